import { beforeEach, describe, expect, test } from 'vitest'
import { allowOf } from '../../../../src/http/routes.ts'
import { expectSilence, petBody, startServer } from '../../../support/node-server.ts'
import { rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

describe('the Host header', () => {
  test.each([
    ['empty', 'Host:\r\n'],
    ['of another site', 'Host: evil.example\r\n'],
  ])('the Host header is ignored if it is %s', async (_name, host) => {
    const { url, token } = await startServer()
    for (let i = 0; i < 3; i++)
      await rawRequest(url, `POST /v1/pets HTTP/1.1\r\n${host}Authorization: Bearer ${token}\r\n${petBody()}`)
    const answer = await rawRequest(
      url,
      `GET /v1/pets?limit=1 HTTP/1.1\r\n${host}Authorization: Bearer ${token}\r\n\r\n`,
    )
    expect(answer.status).toBe(200)
    expect(answer.headers.link).toMatch(/^<\/v1\/pets\?/)
  })

  test('the Host header is required in HTTP/1.1 only', async () => {
    // Node rejects a request without Host before it calls the handler (RFC 9112, section 3.2).
    const { url, token } = await startServer()
    expect((await rawRequest(url, `GET /v1/pets HTTP/1.1\r\nAuthorization: Bearer ${token}\r\n\r\n`)).status).toBe(400)
    expect((await rawRequest(url, `GET /v1/pets HTTP/1.0\r\nAuthorization: Bearer ${token}\r\n\r\n`)).status).toBe(200)
  })
})

describe('the request target', () => {
  test.each([
    ['http://evil.example/v1/pets', 200],
    ['http://evil.example:99/v1/pets?limit=1', 200],
    ['HTTP://[::1]/v1/pets', 200],
    ['http://evil.example', 404],
    ['*', 404],
    ['//x', 404],
    ['//x/v1/pets', 404],
    ['///v1/pets', 404],
    ['/v1//pets', 404],
    ['/v1/pets//', 404],
    ['/v1/pets/', 200],
    ['/v1/pets/%zz', 404],
    ['/v1/%zz', 404],
    ['/%zz', 404],
    ['/v1/pets?limit=%zz', 400],
    ['/v1/pets?%zz', 200],
    ['/v1/pets?cursor=%zz', 400],
    ['/v1/../v1/pets', 404],
    ['/v1/%70ets', 200],
    ['/v1/pets/%00', 404],
    ['/v1x/pets', 404],
    [`/v1/pets/${'9'.repeat(8_000)}`, 404],
    [`/v1/pets?${'a=1&'.repeat(2_000)}`, 400],
  ])('the target %.60s gets status %i', async (target, status) => {
    const { url, authorized } = await startServer()
    const answer = await rawRequest(url, `GET ${target} HTTP/1.1\r\n${authorized}\r\n`)
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': expect.stringMatching(/^\d+$/) })
  })

  test('OPTIONS * gets 404', async () => {
    const { url, authorized } = await startServer()
    expect((await rawRequest(url, `OPTIONS * HTTP/1.1\r\n${authorized}\r\n`)).status).toBe(404)
  })
})

describe('the method', () => {
  test.each(['TRACE', 'DELETE', 'PATCH', 'PROPFIND', 'M-SEARCH'])(
    'the method %s gets 405 with an Allow header',
    async (method) => {
      const { url, authorized } = await startServer()
      const answer = await rawRequest(url, `${method} /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
      expect(answer.status).toBe(405)
      expect(answer.headers.allow).toBe(allowOf('/pets'))
    },
  )

  test('TRACE does not echo the key', async () => {
    const { url, authorized, token } = await startServer()
    const { body } = await rawRequest(url, `TRACE /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    expect(body).not.toContain(token)
  })

  test('ignores an Upgrade header', async () => {
    const { url, authorized } = await startServer()
    const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n`
    expect((await rawRequest(url, `GET /v1/pets HTTP/1.1\r\n${authorized}${upgrade}\r\n`)).status).toBe(200)
  })
})

describe('the Authorization header', () => {
  test('two Authorization headers with 2,100 headers between them get 401', async () => {
    const { url, authorized, token } = await startServer()
    const between = 'a:\r\n'.repeat(2_100)
    const answer = await rawRequest(
      url,
      `GET /v1/pets HTTP/1.1\r\n${authorized}${between}Authorization: Bearer ${token}\r\n\r\n`,
    )
    expect(answer.status).toBe(401)
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="petstore", error="invalid_token"')
  })

  test.each(['\xe9\xff', 'Bearer \xc3\xa9', 'Bearer \x80\x81', 'Bearer \t', '', 'Bearer'])(
    'the Authorization header %j gets 401',
    async (value) => {
      const { url } = await startServer()
      const answer = await rawRequest(url, `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${value}\r\n\r\n`)
      expect(answer.status).toBe(401)
      expect(JSON.parse(answer.body)).toMatchObject({ code: 'invalid_api_key' })
    },
  )
})

describe('bytes outside ASCII', () => {
  test.each([
    ['in a header', '/v1/pets', 'X-Note: \xff\xfe\xc3\xa9\r\n', 200],
    ['in Content-Type', '/v1/pets', 'Content-Type: application/\xe9\r\n', 200],
    ['in X-Forwarded-For', '/v1/pets', 'X-Forwarded-For: \xe9\r\n', 200],
    ['in the query', '/v1/pets?limit=\xc3\xa9', '', 400],
    ['in the path', '/v1/pets/\xc3\xa9', '', 404],
  ])('bytes outside ASCII cause no server error: %s', async (_name, target, header, status) => {
    const { url, authorized } = await startServer({ trustProxy: 1 })
    const answer = await rawRequest(url, `GET ${target} HTTP/1.1\r\n${authorized}${header}\r\n`)
    expect([status, 400]).toContain(answer.status)
  })

  test('bytes outside ASCII in Content-Type get 415', async () => {
    const { url, authorized } = await startServer()
    const body = 'Content-Type: application/json\xff\r\nContent-Length: 2\r\n\r\n{}'
    expect((await rawRequest(url, `POST /v1/pets HTTP/1.1\r\n${authorized}${body}`)).status).toBe(415)
  })
})

test('a 204 response has no Content-Length', async () => {
  const { url, authorized } = await startServer()
  const answer = await rawRequest(url, `OPTIONS /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
  expect(answer.status).toBe(204)
  expect(answer.headers).not.toHaveProperty('content-length')
})

import { beforeEach, describe, expect, test } from 'vitest'
import { expectSilence, startServer } from '../../../support/node-server.ts'
import { rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

describe('the request target', () => {
  test.each([
    ['http://evil.example/v1/pets', 200],
    ['//x', 404],
    ['/v1/pets/%zz', 404],
    ['/v1/pets?cursor=%zz', 400],
    ['/v1/pets/%00', 404],
    [`/v1/pets/${'9'.repeat(8_000)}`, 404],
    [`/v1/pets?${'a=1&'.repeat(2_000)}`, 400],
  ])('the target %.60s gets status %i', async (target, status) => {
    const { url, authorized } = await startServer()
    const answer = await rawRequest(url, `GET ${target} HTTP/1.1\r\n${authorized}\r\n`)
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({ 'x-ratelimit-limit': expect.stringMatching(/^\d+$/) })
  })
})

describe('the method', () => {
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

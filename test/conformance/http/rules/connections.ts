import assert from 'node:assert/strict'
import type { Wire } from '../client.ts'
import { expectJson, expectOurs, get, keyOf, post } from '../expect.ts'
import type { Rules } from '../suite.ts'

const BODY = '{"name":"Rex","categoryId":1}'

function head(method: string, target: string, ...more: readonly string[]): string {
  const authorization = `Authorization: ${keyOf('ample').authorization}`
  return [`${method} ${target} HTTP/1.1`, 'Host: shop.example', authorization, ...more, '', ''].join('\r\n')
}

/** Checks that a connection still serves requests. */
async function expectToLive(connection: Wire): Promise<void> {
  connection.write(head('GET', '/v1/pets?limit=1'))
  assert.equal((await connection.response()).status, 200)
}

/** Tests of behaviour that only a client with a raw TCP connection can see. */
export const connections: Rules = {
  'serves many requests on one connection': async ({ wire }) => {
    const connection = wire()
    for (let i = 0; i < 3; i++) {
      connection.write(
        `${head('POST', '/v1/pets', 'Content-Type: application/json', `Content-Length: ${BODY.length}`)}${BODY}`,
      )
      assert.equal((await connection.response()).status, 201)
      await expectToLive(connection)
    }
  },
  'responds to pipelined requests in order': async ({ wire }) => {
    const connection = wire()
    const posted = `${head('POST', '/v1/pets', 'Content-Type: application/json', `Content-Length: ${BODY.length}`)}${BODY}`
    const statuses = [405, 200, 201, 404, 200, 201]
    const requests = [head('PUT', '/v1/pets'), head('GET', '/v1/pets?limit=1'), posted, head('GET', '/v1/pets/0')]
    connection.write([...requests, head('GET', '/v1/pets?limit=1'), posted].join(''))
    for (const status of statuses) assert.equal((await connection.response()).status, status)
  },
  'responds to a request that is pipelined after a slow request': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/faulty/v1/pets/9') + head('GET', '/v1/pets?limit=1'))
    assert.equal((await connection.response()).status, 503)
    assert.equal((await connection.response()).status, 200)
  },
  'keeps the connection after a rejected upload': async ({ wire }) => {
    const connection = wire()
    const upload = 'x'.repeat(300)
    connection.write(head('POST', '/small/v1/pets', 'Content-Type: application/json', 'Content-Length: 300') + upload)
    assert.equal((await connection.response()).status, 413)
    connection.write(head('POST', '/v1/pets', 'Content-Type: text/plain', 'Content-Length: 300') + upload)
    assert.equal((await connection.response()).status, 415)
    await expectToLive(connection)
  },
  'keeps the connection after a rejected chunked upload': async ({ wire }) => {
    const connection = wire()
    const chunks = `7d0\r\n${'x'.repeat(2_000)}\r\n0\r\n\r\n`
    const upload = head('POST', '/small/v1/pets', 'Content-Type: application/json', 'Transfer-Encoding: chunked')
    connection.write(upload + chunks)
    assert.equal((await connection.response()).status, 413)
    connection.write(head('POST', '/v1/pets', 'Content-Type: text/plain', 'Transfer-Encoding: chunked') + chunks)
    assert.equal((await connection.response()).status, 415)
    await expectToLive(connection)
  },
  'keeps the connection after a rejected upload of 400 KB': async ({ wire }) => {
    const connection = wire()
    const upload = 'x'.repeat(400_000)
    const bodies = [
      ['Content-Length: 400000', upload],
      ['Transfer-Encoding: chunked', `61a80\r\n${upload}\r\n0\r\n\r\n`],
    ] as const
    for (const [framing, body] of bodies) {
      connection.write(head('POST', '/small/v1/pets', 'Content-Type: application/json', framing) + body)
      assert.equal((await connection.response()).status, 413)
      connection.write(head('POST', '/v1/pets', 'Content-Type: text/plain', framing) + body)
      assert.equal((await connection.response()).status, 415)
    }
    await expectToLive(connection)
  },
  'keeps the connection after a rejected chunked upload of 6 MB': async ({ wire }) => {
    const connection = wire()
    connection.write(head('POST', '/small/v1/pets', 'Content-Type: application/json', 'Transfer-Encoding: chunked'))
    for (let i = 0; i < 60; i++) connection.write(`186a0\r\n${'x'.repeat(100_000)}\r\n`)
    connection.write('0\r\n\r\n')
    assert.equal((await connection.response()).status, 413)
    await expectToLive(connection)
  },
  'keeps the connection after an upload to an unknown path': async ({ wire }) => {
    const connection = wire()
    connection.write(head('POST', '/v1/nothing', 'Content-Length: 400000') + 'x'.repeat(400_000))
    const { status, body } = await connection.response()
    assert.equal(status, 404)
    assert.equal(JSON.parse(body).code, 'route_not_found')
    await expectToLive(connection)
  },
  'ignores trailers of a chunked body': async ({ wire }) => {
    const connection = wire()
    const chunks = `${BODY.length.toString(16)}\r\n${BODY}\r\n0\r\nX-Checksum: 1\r\n\r\n`
    connection.write(head('POST', '/v1/pets', 'Content-Type: application/json', 'Transfer-Encoding: chunked') + chunks)
    assert.equal((await connection.response()).status, 201)
    await expectToLive(connection)
  },
  'keeps the connection after a GET with a body': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/v1/pets?limit=1', 'Content-Length: 60000') + 'x'.repeat(60_000))
    assert.equal((await connection.response()).status, 200)
    await expectToLive(connection)
  },
  'rejects a huge Content-Length with 413': async ({ wire }) => {
    const connection = wire()
    connection.write(head('POST', '/v1/pets', 'Content-Type: application/json', 'Content-Length: 99999999999'))
    const { status, body } = await connection.response()
    assert.equal(status, 413)
    assert.match(body, /"payload_too_large"/)
  },
  'responds with 413 to an upload of 3 MB': async ({ send }) => {
    const refused = await post(send, '/small/v1/pets', 'x'.repeat(3_000_000))
    assert.equal(refused.status, 413)
  },
  'states the Content-Length of a response': async ({ send }) => {
    const { headers, bytes } = await get(send, '/v1/pets')
    assert.equal(headers['content-length'], String(bytes.length))
  },
  'sends no body for HEAD and OPTIONS': async ({ wire }) => {
    const connection = wire()
    connection.write(head('HEAD', '/v1/pets?limit=1'))
    await connection.take(/^HTTP\/1\.1 200[\s\S]*?\r\n\r\n/)
    connection.write(head('OPTIONS', '/v1/pets'))
    await connection.take(/^HTTP\/1\.1 204[\s\S]*?\r\n\r\n/)
    connection.write(head('GET', '/v1/pets?limit=1'))
    await connection.take(/^HTTP\/1\.1 200/)
  },
  'sends 100 Continue to a client that waits for it': async ({ wire }) => {
    const connection = wire()
    const length = `Content-Length: ${BODY.length}`
    connection.write(head('POST', '/v1/pets', 'Content-Type: application/json', length, 'Expect: 100-continue'))
    await connection.take(/^HTTP\/1\.1 100 [\s\S]*?\r\n\r\n/)
    connection.write(BODY)
    assert.equal((await connection.response()).status, 201)
  },
  'responds with 417 to an unknown expectation': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/v1/pets?limit=1', 'Expect: tea'))
    assert.equal((await connection.response()).status, 417)
  },
  'describes an unknown expectation in the body': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/v1/pets?limit=1', 'Expect: tea'))
    assert.match((await connection.response()).body, /"expectation_failed"/)
  },
  'rejects an empty Authorization header as invalid_api_key': async ({ wire }) => {
    const connection = wire()
    connection.write('GET /v1/pets HTTP/1.1\r\nHost: shop.example\r\nAuthorization:\r\n\r\n')
    assert.equal(JSON.parse((await connection.response()).body).code, 'invalid_api_key')
  },
  'rejects a second Authorization header': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/v1/pets', `Authorization: ${keyOf('ample').authorization}`))
    assert.equal((await connection.response()).status, 401)
  },
  'rejects a second Idempotency-Key header with 400': async ({ wire }) => {
    const connection = wire()
    const more = ['Idempotency-Key: one', 'Idempotency-Key: two', 'Content-Type: application/json']
    connection.write(head('POST', '/v1/pets', ...more, `Content-Length: ${BODY.length}`) + BODY)
    const { status, body } = await connection.response()
    assert.deepEqual([status, JSON.parse(body).code], [400, 'invalid_idempotency_key'])
  },
  'serves a target in absolute form': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', 'http://shop.example/v1/pets/77'))
    const { status, head: headers } = await connection.response()
    assert.equal(status, 404)
    assert.match(headers, /link: <\/v1\/pets>; rel="successor-version"/i)
  },
  'does not resolve dot segments': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/v1/dogs/../pets'))
    assert.equal((await connection.response()).status, 404)
  },
  'does not treat a backslash as a slash': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/v1\\pets'))
    assert.match(String((await connection.response()).status), /^40[04]$/)
  },
  'ignores a path in the Host header': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/v1/nothing').replace(/Host: .*/, 'Host: shop.example/v1/pets/?'))
    assert.match(String((await connection.response()).status), /^40[04]$/)
  },
  'responds with 404 to an invalid percent escape': async ({ wire }) => {
    const connection = wire()
    connection.write(head('GET', '/v1/%zz'))
    const { status, body } = await connection.response()
    assert.equal(status, 404)
    assert.equal(JSON.parse(body).code, 'route_not_found')
  },
  'serves requests with many headers or a long query': async ({ send }) => {
    const many = Object.fromEntries(Array.from({ length: 80 }, (_, i) => [`x-filler-${i}`, 'x'.repeat(40)]))
    expectOurs(await get(send, '/v1/pets?limit=1', many), 200)
    expectOurs(await get(send, `/v1/pets?limit=1&filler=${'x'.repeat(4_000)}`), 200)
  },
  'survives a target of 200 KB': async ({ send, wire }) => {
    const connection = wire()
    connection.write(head('GET', `/v1/pets?filler=${'x'.repeat(200_000)}`))
    const [, status] = await connection.take(/^HTTP\/1\.1 (\d+)/)
    assert.ok(['200', '400', '413', '414', '431'].includes(status ?? ''), status)
    expectJson(await get(send, '/v1/pets'), 200)
  },
}

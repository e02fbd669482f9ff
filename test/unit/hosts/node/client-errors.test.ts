import { once } from 'node:events'
import { Server } from 'node:http'
import { beforeEach, expect, test, vi } from 'vitest'
import type { PetStore } from '../../../../src/index.ts'
import { expectSilence, signalled, startServer } from '../../../support/node-server.ts'
import { type RawResponse, rawConnection, rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

function expectRefusal({ status, headers, body }: RawResponse, expected: number, code: string): void {
  expect(status).toBe(expected)
  expect(JSON.parse(body)).toEqual({ code, message: expect.any(String), status: expected })
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    connection: 'close',
    'x-ratelimit-limit': '1000000',
    'x-ratelimit-remaining': '1000000',
    'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
  })
}

test.each([
  ['a header line without a colon', 400, 'bad_request', 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n'],
  ['bytes that are not HTTP', 400, 'bad_request', '\x16\x03\x01\x02\x00'],
  ['a request without Host', 400, 'bad_request', 'GET /v1/pets HTTP/1.1\r\n\r\n'],
  [
    'headers over the limit',
    431,
    'request_header_fields_too_large',
    `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
  ],
])('responds to %s with %i and the headers of every response', async (_what, status, code, bytes) => {
  const { url } = await startServer()
  const connection = await rawConnection(url)
  await connection.send(bytes)
  expectRefusal(await connection.answer(), status, code)
  await connection.closed()
})

test('responds to an invalid chunk of a body with 400', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  const type = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n'
  await connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}${type}\r\n1\r\n{\r\n`)
  await connection.send('xyz\r\n')
  expectRefusal(await connection.answer(), 400, 'bad_request')
  await connection.closed()
})

test('responds to a request that takes too long with 408', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  const { url } = await startServer()
  const server = listen.mock.contexts[0] as Server
  const opened = once(server, 'connection')
  const connection = await rawConnection(url)
  const [socket] = await opened
  // Node looks for late requests only every 30 seconds.
  server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  expectRefusal(await connection.answer(), 408, 'request_timeout')
  await connection.closed()
})

test('refuses a pipelined request after the response to the request before it', async () => {
  const { promise, resolve } = signalled()
  const wrap = (petStore: PetStore): PetStore => ({
    ...petStore,
    handle: (request) =>
      request.method === 'GET' ? promise.then(() => petStore.handle(request)) : petStore.handle(request),
  })
  const { url, authorized } = await startServer({ wrap })
  const connection = await rawConnection(url)
  await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\nno request\r\n\r\n`)
  await connection.send('more of it')
  resolve()
  expect((await connection.answer()).status).toBe(200)
  expectRefusal(await connection.answer(), 400, 'bad_request')
  await connection.closed()
})

test('responds without the store if a wrapped handle fails or ignores the error', async () => {
  const ignoring = async () => ({ status: 200, headers: [], body: '' })
  for (const handle of [() => Promise.reject(new Error('of the host')), ignoring]) {
    const { url } = await startServer({ wrap: (petStore) => ({ ...petStore, handle }) })
    const { status, body } = await rawRequest(url, 'no request\r\n\r\n')
    expect([status, JSON.parse(body).code]).toEqual([400, 'bad_request'])
  }
})

test('keeps running if a client resets its connection amid a request', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  await connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}Content-Length: 9\r\n\r\n{`)
  connection.socket.resetAndDestroy()
  expect((await rawRequest(url, `GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)).status).toBe(200)
})

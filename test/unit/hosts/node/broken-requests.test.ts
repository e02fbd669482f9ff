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
    date: expect.stringMatching(/^\w{3}, \d\d \w{3} \d{4} \d\d:\d\d:\d\d GMT$/),
    'x-ratelimit-limit': '1000000',
    'x-ratelimit-remaining': '1000000',
    'x-ratelimit-reset': expect.stringMatching(/^\d+$/),
    'x-content-type-options': 'nosniff',
  })
}

const broken: [string, number, string, string][] = [
  ['a header line without a colon', 400, 'bad_request', 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n'],
  ['bytes that are not HTTP', 400, 'bad_request', '\x16\x03\x01\x02\x00'],
  [
    'headers over the limit',
    431,
    'request_header_fields_too_large',
    `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`,
  ],
]

test.each(broken)('responds to %s with %i, and reports it', async (_what, status, code, bytes) => {
  const onResponse = vi.fn()
  // The command and many hosts wrap the store like this.
  const wrap = (petStore: PetStore): PetStore => ({ ...petStore, handle: (request) => petStore.handle(request) })
  const { url } = await startServer({ wrap, store: { onResponse } })
  const connection = await rawConnection(url)
  await connection.send(bytes)
  expectRefusal(await connection.answer(), status, code)
  await connection.closed()
  const about = { method: '-', target: '-', status, code, clientAddress: '127.0.0.1' }
  expect(onResponse.mock.calls).toEqual([[expect.objectContaining(about)]])
})

test('closes a connection without Host', async () => {
  const { url } = await startServer()
  const connection = await rawConnection(url)
  await connection.send('GET /v1/pets HTTP/1.1\r\n\r\n')
  expect((await connection.answer()).status).toBe(400)
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
  // Emit the error here: Node itself looks for late requests only every 30 seconds.
  server.emit('clientError', Object.assign(new Error(), { code: 'ERR_HTTP_REQUEST_TIMEOUT' }), socket)
  expectRefusal(await connection.answer(), 408, 'request_timeout')
  await connection.closed()
})

test('sends the response of an earlier request, and closes the connection', async () => {
  const { promise, resolve } = signalled()
  const wrap = (petStore: PetStore): PetStore => ({
    ...petStore,
    handle: (request) => promise.then(() => petStore.handle(request)),
  })
  const { url, authorized } = await startServer({ wrap })
  const connection = await rawConnection(url)
  await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\nno request\r\n\r\n`)
  await connection.send('more of it')
  resolve()
  expect((await connection.answer()).status).toBe(200)
  await connection.closed()
})

test('the server keeps running if a client resets its connection mid-request', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  await connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}Content-Length: 9\r\n\r\n{`)
  connection.socket.resetAndDestroy()
  expect((await rawRequest(url, `GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)).status).toBe(200)
})

/** Bodies that Node's parser refuses: the header that announces the body, and the bytes after the head. */
const BROKEN = {
  'an invalid chunk': ['Transfer-Encoding: chunked', '1\r\n{\r\nxyz\r\n'],
  'a chunk extension over the limit': ['Transfer-Encoding: chunked', `1;${'x'.repeat(20_000)}\r\n{\r\n`],
  'a chunk without its line end': ['Transfer-Encoding: chunked', '1\r\n{}}\r\n'],
} as const
const HEADS = {
  'without a key': ['POST /v1/pets', 'Host: a\r\n', [401]],
  'with a wrong path': ['POST /v1/nothing', undefined, [404]],
} as const
const cases = Object.entries(BROKEN).flatMap(([what, [header, body]]) =>
  Object.entries(HEADS).flatMap(([how, [line, authorized, statuses]]) =>
    ['in one packet', 'in two packets', 'after the response'].map((when) => ({
      title: `${what}, ${how}, ${when}`,
      ...{ header, body, line, authorized, statuses, when },
    })),
  ),
)

test.each(cases)('sends one response to a broken upload: $title', async ({ header, body, line, when, ...rest }) => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  let received = ''
  connection.socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
  })
  const head = `${line} HTTP/1.1\r\n${rest.authorized ?? authorized}Content-Type: application/json\r\n${header}\r\n\r\n`
  if (when === 'in one packet') await connection.send(head + body)
  else {
    await connection.send(head)
    if (when === 'after the response') await connection.answer()
    await connection.send(body)
  }
  await connection.closed()
  const statuses = [...received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => Number(status))
  expect(statuses).toHaveLength(1)
  expect([...rest.statuses, 400, 413]).toContain(statuses[0])
  expect(received.split('\r\n\r\n')[1]).toMatch(/^\{"code":"\w+","message":".*","status":\d+\}$/)
})

test('sends one response if the client disconnects during a rejected body', async () => {
  const { url } = await startServer()
  const connection = await rawConnection(url)
  let received = ''
  connection.socket.on('data', (bytes) => {
    received += bytes.toString('latin1')
  })
  await connection.send('POST /v1/pets HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n{')
  expect((await connection.answer()).status).toBe(401)
  connection.socket.end()
  await connection.closed()
  expect(received.match(/HTTP\/1\.1/g)).toHaveLength(1)
})

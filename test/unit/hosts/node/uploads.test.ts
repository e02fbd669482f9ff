import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { memory } from '../../../../src/index.ts'
import { createTestPetStore } from '../../../../src/testing/index.ts'
import {
  expectSilence,
  petBody,
  signalled,
  startServer,
  storeWithKey,
  type TestServer,
} from '../../../support/node-server.ts'
import { type RawConnection, rawConnection, rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

const JSON_TYPE = 'Content-Type: application/json\r\n'
const INVALID_KEY = 'Host: a\r\nAuthorization: Bearer nobody\r\n'
const KIB = Buffer.alloc(1024, 'a')

/** Uploads a body of `kib` KiB. Stops early if the connection closes. */
async function upload(connection: RawConnection, kib: number, chunked: boolean): Promise<void> {
  const block = Buffer.concat(Array.from({ length: 64 }, () => KIB))
  const piece = chunked ? Buffer.concat([Buffer.from('10000\r\n'), block, Buffer.from('\r\n')]) : block
  for (let sent = 0; sent < kib && !connection.socket.destroyed; sent += 64) await connection.send(piece)
  if (chunked) await connection.send('0\r\n\r\n')
}

function uploadHead(kib: number, chunked: boolean, head: string): string {
  const framing = chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${kib * 1024}`
  return `POST /v1/pets HTTP/1.1\r\n${head}${JSON_TYPE}${framing}\r\n\r\n`
}

describe('a rejected upload', () => {
  const refusals: [string, (server: TestServer) => string, number][] = [
    ['an invalid key', () => INVALID_KEY, 401],
    ['its size', (server) => server.authorized, 413],
    ['a wrong media type', (server) => `${server.authorized}content-type: text/plain\r\n`, 415],
  ]
  const sizes: [string, number, boolean][] = [
    ['320 KB', 320, false],
    ['320 KB in chunks', 320, true],
    ['300 MB', 300 * 1024, false],
    ['300 MB in chunks', 300 * 1024, true],
  ]
  test.each(
    refusals.flatMap(([why, head, status]) =>
      sizes.map(([size, kib, chunked]) => ({ why, head, status, size, kib, chunked })),
    ),
  )('an upload of $size gets $status because of $why', async ({ head, status, kib, chunked }) => {
    const server = await startServer()
    const connection = await rawConnection(server.url)
    await connection.send(uploadHead(kib, chunked, head(server)))
    const uploaded = upload(connection, kib, chunked)
    const answer = await connection.answer()
    expect(answer.status).toBe(status)
    await uploaded
    if (kib > 16 * 1024) return connection.closed()
    expect(answer.headers.connection).toBe('keep-alive')
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${server.authorized}\r\n`)
    expect((await connection.answer()).status).toBe(200)
  })

  test.each([
    ['320 KB with Connection: close', 320, 'Connection: close\r\n'],
    ['4 MB with Connection: close', 4096, 'Connection: close\r\n'],
    ['320 KB with Expect, sent without waiting', 320, 'Expect: 100-continue\r\n'],
  ])('a rejected upload is read before the connection closes: %s', async (_which, kib, fields) => {
    const { petStore } = await storeWithKey()
    const handler = toNodeHandler(petStore)
    const server = createServer(handler).on('checkContinue', handler)
    onTestFinished(() => void server.close().closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await connection.send(uploadHead(kib, false, `${INVALID_KEY}${fields}`))
    const answer = await connection.answer()
    expect([answer.status, answer.headers.connection]).toEqual([401, 'close'])
    expect(connection.socket.readableEnded).toBe(false)
    await upload(connection, kib, false)
    await connection.closed()
    expect(connection.socket.errored).toBeNull()
  })

  test('a rejected upload with an Upgrade header closes its connection', async () => {
    // After a request with an Upgrade header, Node loses the bytes that follow the body.
    const { petStore } = await storeWithKey()
    const handler = toNodeHandler(petStore)
    const servers = [
      createServer(handler),
      createServer((request, response) => {
        const { end } = response
        // Middleware that reads the response body wraps `end` like this.
        response.end = ((...args: Parameters<typeof end>) => end.apply(response, args)) as typeof end
        handler(request, response)
      }),
    ]
    for (const server of servers) {
      onTestFinished(() => void server.close().closeAllConnections())
      await once(server.listen(0, '127.0.0.1'), 'listening')
      const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      await connection.send(uploadHead(320, false, `${INVALID_KEY}Connection: Upgrade\r\nUpgrade: h2c\r\n`))
      await upload(connection, 320, false)
      const answer = await connection.answer()
      expect([answer.status, answer.headers.connection]).toEqual([401, 'close'])
      await connection.closed()
      expect(connection.socket.errored).toBeNull()
    }
  })

  test.each([
    [16_777_216, 'keep-alive'],
    [16_777_217, 'close'],
  ])('a rejected upload of %i bytes gets the header Connection: %s', async (length, connection) => {
    const { url } = await startServer()
    const head = `POST /v1/pets HTTP/1.1\r\n${INVALID_KEY}Content-Length: ${length}\r\n\r\n`
    expect((await rawRequest(url, head)).headers.connection).toBe(connection)
  })

  test('a rejected upload does not prevent the response to an earlier request', async () => {
    const { petStore, authorized } = await storeWithKey()
    const handler = toNodeHandler(petStore)
    const refused = signalled()
    const server = createServer(async (request, response) => {
      if (request.method === 'GET') await refused.promise
      handler(request, response)
      if (request.method === 'POST') setImmediate(() => setImmediate(refused.resolve))
    })
    onTestFinished(() => void server.close().closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n${uploadHead(4096, false, INVALID_KEY)}`)
    expect((await connection.answer()).status).toBe(200)
    expect((await connection.answer()).status).toBe(401)
    connection.leave()
  })

  const wrappers: [string, (response: ServerResponse, ended: () => void) => void][] = [
    [
      'counts its calls',
      (response, ended) => {
        const { end } = response
        response.end = ((...args: Parameters<typeof end>) => {
          ended()
          return end.apply(response, args)
        }) as never
      },
    ],
    [
      'sets a header',
      (response, ended) => {
        const { end } = response
        response.end = ((...args: Parameters<typeof end>) => {
          ended()
          response.setHeader('X-Time', '1')
          return end.apply(response, args)
        }) as never
      },
    ],
    [
      'throws',
      (response, ended) => {
        response.end = () => {
          ended()
          response.destroy()
          throw new Error('of the host')
        }
      },
    ],
  ]
  const methods = ['POST', 'HEAD', 'OPTIONS']
  test.each(
    wrappers.flatMap(([what, wrap]) =>
      methods.flatMap((method) => ['', 'Connection: close\r\n'].map((fields) => ({ what, wrap, method, fields }))),
    ),
  )('calls a replaced response.end once if it $what: $method, $fields', async ({ wrap, what, method, fields }) => {
    const { petStore } = await storeWithKey()
    const handler = toNodeHandler(petStore)
    let ends = 0
    const server = createServer((request, response) => {
      wrap(response, () => {
        ends++
      })
      handler(request, response)
    })
    onTestFinished(() => void server.close().closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    await connection.send(uploadHead(4096, false, `${INVALID_KEY}${fields}`).replace('POST', method))
    const answer = connection.answer(method === 'HEAD' ? 'HEAD' : undefined).catch(() => 'none')
    await upload(connection, 4096, false)
    if (what === 'throws') expect(await answer).toBe('none')
    else expect(await answer).toMatchObject({ status: 401 })
    expect(ends).toBe(1)
    connection.leave()
  })

  test('closes the connection 2 seconds after rejecting an upload whose body never arrives', async () => {
    const { url, authorized } = await startServer()
    holdTimers()
    const connection = await rawConnection(url)
    await connection.send(uploadHead(4_000_000, false, authorized))
    expect((await connection.answer()).status).toBe(413)
    vi.advanceTimersByTime(2_000)
    await connection.closed()
  })
})

describe('Expect: 100-continue', () => {
  const EXPECT = 'Expect: 100-continue\r\n'

  test.each([
    ['an invalid key', 401, INVALID_KEY, 29, 'application/json'],
    ['a length over the limit', 413, undefined, 70_000, 'application/json'],
    ['a wrong media type', 415, undefined, 29, 'text/plain'],
  ])('Expect: 100-continue with %s gets %i before the body is sent', async (_why, status, head, length, type) => {
    const { url, authorized } = await startServer()
    holdTimers()
    const connection = await rawConnection(url)
    const fields = `${head ?? authorized}${EXPECT}Content-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`
    await connection.send(`POST /v1/pets HTTP/1.1\r\n${fields}`)
    const answer = await connection.answer()
    expect(answer.status).toBe(status)
    expect(answer.headers.connection).toBe('close')
    // The client may still send the body, so the server waits two seconds before it closes the connection.
    vi.advanceTimersByTime(2_000)
    await connection.closed()
  })
})

test('reads little more than 16 MiB of a rejected upload', async () => {
  const { url } = await startServer()
  const connection = await rawConnection(url)
  await connection.send(uploadHead(300 * 1024, true, INVALID_KEY))
  await upload(connection, 300 * 1024, true)
  await connection.closed()
  expect(connection.socket.bytesWritten).toBeLessThan(100 * 1024 * 1024)
})

test('reads all of an upload with Connection: close before it calls response.end', async () => {
  const { petStore } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const ended: boolean[] = []
  const server = createServer((request, response) => {
    const { end } = response
    response.end = ((...args: Parameters<typeof end>) => {
      ended.push(request.complete)
      return end.apply(response, args)
    }) as never
    handler(request, response)
  })
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await connection.send(uploadHead(320, false, `${INVALID_KEY}Connection: close\r\n`))
  await upload(connection, 320, false)
  expect((await connection.answer()).status).toBe(401)
  await connection.closed()
  expect(ended).toEqual([true])
})

test('reads the upload of a HEAD request if the server sets rejectNonStandardBodyWrites', async () => {
  const petStore = await createTestPetStore()
  const server = createServer({ rejectNonStandardBodyWrites: true }, toNodeHandler(petStore)).listen(0)
  onTestFinished(() => void server.close())
  const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const head = uploadHead(320, false, `${INVALID_KEY}Connection: close\r\n`).replace('POST', 'HEAD')
  await connection.send(head)
  expect((await connection.answer('HEAD')).status).toBe(401)
  await upload(connection, 320, false)
  expect(connection.socket.destroyed).toBe(false)
})

test('ignores requests after a rejected upload with Connection: close', async () => {
  const reports: string[] = []
  const gate = signalled<[]>()
  const { storage } = memory()
  const { url, authorized } = await startServer({
    store: {
      storage: { ...storage, list: () => gate.promise },
      onResponse: ({ method, status }) => reports.push(`${method} ${status}`),
    },
  })
  const connection = await rawConnection(url)
  await connection.send(
    `GET /v1/pets HTTP/1.1\r\n${authorized}\r\n${uploadHead(2048, false, `${INVALID_KEY}Connection: close\r\n`)}`,
  )
  gate.resolve([])
  expect([(await connection.answer()).status, (await connection.answer()).status]).toEqual([200, 401])
  await upload(connection, 2048, false)
  await connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}${petBody()}`)
  await connection.closed()
  expect(reports.toSorted()).toEqual(['GET 200', 'POST 401'])
})

test('disconnects a client whose body never arrives, even if the host wraps response.end', async () => {
  holdTimers()
  const { petStore } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const finished = signalled()
  const server = createServer((request, response) => {
    response.end = response.end.bind(response)
    handler(request, response)
    response.on('finish', () => setImmediate(finished.resolve))
  })
  server.keepAliveTimeout = 0
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await connection.send(uploadHead(4_000_000, false, INVALID_KEY))
  const answer = await connection.answer()
  expect([answer.status, answer.headers.connection]).toEqual([401, 'keep-alive'])
  await finished.promise
  vi.advanceTimersByTime(2_000)
  vi.useRealTimers()
  await connection.closed()
})

test('reads a rejected upload for as long as bytes arrive', async () => {
  holdTimers()
  const { petStore } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    requests.push(request)
    handler(request, response)
  }).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server, 'listening')
  const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await connection.send(uploadHead(2_048, false, INVALID_KEY))
  expect((await connection.answer()).status).toBe(401)
  for (let part = 0; part < 8; part++) {
    vi.advanceTimersByTime(1_900)
    const arrived = once(requests[0] as IncomingMessage, 'data')
    await upload(connection, 256, false)
    await arrived
  }
  vi.useRealTimers()
  await connection.send('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')
  expect((await connection.answer()).status).toBe(401)
})

/** Replaces `setTimeout`, so that the server's timers fire only when the test advances the time. */
function holdTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** Starts a host's server whose timers fire only if the test advances the time, and connects to it. */
async function connectWithoutTimers(prepare: (response: ServerResponse, request: IncomingMessage) => void) {
  holdTimers()
  const { petStore, authorized } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const server = createServer((request, response) => {
    prepare(response, request)
    handler(request, response)
  })
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return { connection, authorized }
}

describe('a server whose timers do not fire', () => {
  test('a response without a body is sent before the upload ends', async () => {
    const { connection } = await connectWithoutTimers(() => {})
    await connection.send(uploadHead(4096, false, INVALID_KEY).replace('POST', 'HEAD'))
    expect((await connection.answer('HEAD')).status).toBe(401)
  })

  test("calls the host's end method if the client disconnects mid-upload", async () => {
    const ended = signalled()
    const { connection } = await connectWithoutTimers((response) => {
      response.end = () => {
        ended.resolve()
        return response
      }
    })
    await connection.send(uploadHead(320, false, `${INVALID_KEY}Connection: close\r\n`))
    connection.leave()
    await ended.promise
  })

  test("closes the connection after the upload if the host's end method throws", async () => {
    const { connection } = await connectWithoutTimers((response) => {
      response.end = () => {
        throw new Error('of the host')
      }
    })
    await connection.send(uploadHead(320, false, `${INVALID_KEY}Connection: close\r\n`))
    await upload(connection, 320, false)
    await connection.closed()
  })
})

describe.each<[string, (response: ServerResponse) => void]>([
  ["the host's end method", (response) => void Object.assign(response, { end: response.end.bind(response) })],
  ["Node's end method", () => {}],
])('a server whose responses have %s', (_host, prepare) => {
  test.each([
    ['slow and small', false, 2_000],
    ['chunked', true, 0],
  ])('keeps the connection after a rejected upload that is %s', async (_title, chunked, time) => {
    const { connection, authorized } = await connectWithoutTimers(prepare)
    await connection.send(uploadHead(320, chunked, INVALID_KEY))
    expect((await connection.answer()).status).toBe(401)
    vi.advanceTimersByTime(time)
    await upload(connection, 320, chunked)
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    expect((await connection.answer()).status).toBe(200)
  })
})

test('reads a rejected upload that the host has paused', async () => {
  const { petStore } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const server = createServer((request, response) => handler(request.pause(), response))
  onTestFinished(() => void server.close().closeAllConnections())
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const connection = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  await connection.send(uploadHead(4096, false, INVALID_KEY))
  expect((await connection.answer()).status).toBe(401)
  await upload(connection, 4096, false)
  await connection.send(`GET /v1/pets HTTP/1.1\r\n${INVALID_KEY}\r\n`)
  expect((await connection.answer()).status).toBe(401)
})

import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo } from 'node:net'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type NodeHandler, toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { memory, type PetStore } from '../../../../src/index.ts'
import { petBody, signalled, startServer, storeWithKey, type TestServerOptions } from '../../../support/node-server.ts'
import { type RawConnection, rawConnection } from '../../../support/raw-http.ts'

async function listening(
  listener: RequestListener,
  options: ServerOptions = {},
): Promise<{ server: Server; url: string }> {
  const server = createServer(options, listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

async function given(
  host: (handler: NodeHandler) => RequestListener,
  options?: ServerOptions,
  storeOptions?: TestServerOptions,
) {
  const { petStore, authorized } = await storeWithKey(storeOptions)
  const { server, url } = await listening(host(toNodeHandler(petStore)), options)
  const connection = await rawConnection(url)
  return { server, connection, create: `POST /v1/pets HTTP/1.1\r\n${authorized}` }
}

/** Sends the pieces one by one, with time for the server to read each. */
async function sendInPieces({ socket, send }: RawConnection, text: string, cuts: readonly number[]): Promise<void> {
  const ends = [...new Set(cuts.map((cut) => cut % text.length))].sort((a, b) => a - b)
  for (const [i, end] of [...ends, text.length].entries()) {
    await send(text.slice(ends[i - 1] ?? 0, end))
    for (let turn = 0; turn < 3; turn++) await nextTurn()
  }
  expect(socket.destroyed).toBe(false)
}

test('requests that are cut into random pieces create their animals in order', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  const name = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-'), minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      async (names, cuts) => {
        const bodies = names.map((name) => petBody(`{"name":"${name}","categoryId":1}`))
        const text = bodies.map((body) => `POST /v1/pets HTTP/1.1\r\n${authorized}${body}`).join('')
        await sendInPieces(connection, text, cuts)
        for (const name of names) {
          const { status, body } = await connection.answer()
          expect([status, JSON.parse(body).name]).toEqual([201, name])
        }
      },
    ),
    { numRuns: 60 },
  )
})

test.each(['close', 'keep-alive'])('a request with Connection: %s gets that header back once', async (connection) => {
  const { url, authorized } = await startServer()
  const raw = await rawConnection(url)
  void raw.send(`POST /v1/pets HTTP/1.1\r\n${authorized}Connection: ${connection}\r\n${petBody()}`)
  const answer = await raw.answer()
  expect([answer.status, answer.headers.connection]).toEqual([201, connection])
  if (connection === 'close') await raw.closed()
  else raw.leave()
})

const ignore = () => {}
const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

const listeners: Record<string, (request: IncomingMessage) => void> = {
  data: (request) => request.on('data', ignore),
  'data, once': (request) => request.once('data', ignore),
  'data, removed': (request) => request.on('data', ignore).removeListener('data', ignore),
  'data, paused': (request) => request.on('data', ignore).pause(),
  readable: (request) => request.on('readable', ignore),
  'readable, paused': (request) => request.on('readable', ignore).pause(),
  'readable, and reads': (request) => request.on('readable', () => request.read()),
  end: (request) => request.on('end', ignore).resume(),
  'a pipe': (request) => request.pipe(new PassThrough().resume()),
}

/** Adds three turns of the event loop to each request, as the look-up of a key in a database does. */
const lookUpSlowly = (petStore: PetStore): PetStore => ({
  ...petStore,
  handle: async (request) => {
    for (let turn = 0; turn < 3; turn++) await nextTurn()
    return petStore.handle(request)
  },
})

describe.each([
  ['in memory', undefined],
  ['in a database', lookUpSlowly],
])('a host that also listens to the body, with keys %s', (_, wrap) => {
  for (const [title, listen] of Object.entries(listeners)) {
    test(`the store reads the whole body although the host listens to it too: ${title}`, async () => {
      const host = (handler: NodeHandler) => async (request: IncomingMessage, response: ServerResponse) => {
        if (request.headers['x-turn'] === 'later') await nextTurn()
        listen(request)
        handler(request, response)
      }
      const { connection, create } = await given(host, {}, { wrap })
      const json = fc.constantFrom('{"name":"Rex","categoryId":1}', '{"name":"Rex","categoryId":1}GARBAGE')
      const turn = fc.constantFrom('now', 'later')
      await fc.assert(
        fc.asyncProperty(json, turn, fc.array(fc.nat(), { maxLength: 2 }), async (json, turn, cuts) => {
          await sendInPieces(connection, `${create}X-Turn: ${turn}\r\n${petBody(json)}`, cuts)
          expect((await connection.answer()).status).toBe(json.endsWith('}') ? 201 : 400)
        }),
        { numRuns: 40 },
      )
    })
  }
})

test('reads the body although the host pipes it into a full stream', async () => {
  const { connection, create } = await given((handler) => (request, response) => {
    request.pipe(new PassThrough({ highWaterMark: 16 }))
    handler(request, response)
  })
  const name = 'x'.repeat(500)
  const text = create + petBody(JSON.stringify({ name, categoryId: 1 }))
  for (let i = 0; i < 3; i++) {
    await sendInPieces(connection, text, [text.length - 400, text.length - 200])
    expect((await connection.answer()).status).toBe(201)
  }
})

test('the store reads the body although the host pauses after each resume', async () => {
  let pauses = 0
  const { connection, create } = await given((handler) => (request, response) => {
    let isImpatient = true
    setImmediate(() => {
      isImpatient = false
    })
    // At most 100,000 pauses: an endless loop of pause and resume would block the event loop, and the test could not time out.
    const pause = () => isImpatient && ++pauses < 100_000 && request.pause()
    request.on('data', ignore).on('resume', pause)
    handler(request, response)
  })
  void connection.send(create + petBody())
  expect((await connection.answer()).status).toBe(201)
  expect(pauses).toBeGreaterThan(0)
  expect(pauses).toBeLessThan(100_000)
})

test.each([
  ['listens to data', (request: IncomingMessage) => void request.on('data', ignore)],
  ['iterates over the request', (request: IncomingMessage) => void countBytes(request)],
])('the store reads the body although the host %s after it has called the handler', async (_, listen) => {
  for (const wrap of [undefined, lookUpSlowly]) {
    const host = (handler: NodeHandler) => (request: IncomingMessage, response: ServerResponse) => {
      handler(request, response)
      listen(request)
    }
    const { connection, create } = await given(host, {}, { wrap })
    void connection.send(create + petBody())
    expect((await connection.answer()).status).toBe(201)
  }
})

async function countBytes(request: IncomingMessage): Promise<number> {
  let bytes = 0
  for await (const chunk of request) bytes += chunk.length
  return bytes
}

test('a host that iterates over a rejected request gets all bytes of its body', async () => {
  const counted = signalled<Promise<number>>()
  const host = (handler: NodeHandler) => (request: IncomingMessage, response: ServerResponse) => {
    counted.resolve(countBytes(request))
    handler(request, response)
  }
  const { connection } = await given(host, {}, { wrap: lookUpSlowly })
  const json = JSON.stringify({ name: 'x'.repeat(40_000), categoryId: 1 })
  void connection.send(`POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer wrong\r\n${petBody(json)}`)
  expect((await connection.answer()).status).toBe(401)
  expect(await await counted.promise).toBe(json.length)
})

test.each([
  ['at once', 100, 101, 413, '100 bytes'],
  ['at once', 3_000_000, 1_100_000, 400, 'end of input at position 1100000'],
  ['at once', 3_000_000, 3_100_000, 413, '3000000 bytes'],
  ['late', 3_000_000, 1_100_000, 413, '1048576 bytes'],
  ['late', 100, 101, 413, '100 bytes'],
])('looks up the key %s: with bodyLimit %i, a body of %i bytes that the host reads too gets %i: %s', async (...row) => {
  const [time, bodyLimit, length, expected, reason] = row
  const ended = signalled()
  const host = (handler: NodeHandler) => (request: IncomingMessage, response: ServerResponse) => {
    request.on('end', () => ended.resolve()).resume()
    handler(request, response)
  }
  const wrap = (petStore: PetStore): PetStore => ({
    ...petStore,
    handle: (request) => (time === 'late' ? ended.promise : Promise.resolve()).then(() => petStore.handle(request)),
  })
  const { connection, create } = await given(host, {}, { store: { bodyLimit }, wrap })
  const head = `${create}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
  void connection.send(`${head}${length.toString(16)}\r\n${' '.repeat(length)}\r\n0\r\n\r\n`)
  const { status, body } = await connection.answer()
  expect([status, body]).toEqual([expected, expect.stringContaining(reason)])
})

test('waits for a body that the host is still reading', async () => {
  let isRead = () => {}
  const read = new Promise<void>((resolve) => {
    isRead = resolve
  })
  const wrap = (petStore: PetStore): PetStore => ({
    ...petStore,
    handle: (request) => read.then(() => petStore.handle(request)),
  })
  const { petStore, authorized } = await storeWithKey({ wrap })
  const handler = toNodeHandler(petStore)
  const { url } = await listening((request, response) => {
    const host = request as IncomingMessage & { rawBody: string }
    host.rawBody = ''
    request.on('data', (chunk) => {
      host.rawBody += chunk
      isRead()
    })
    handler(request, response)
  })
  const connection = await rawConnection(url)
  const text = `POST /v1/pets HTTP/1.1\r\n${authorized}${petBody()}`
  void connection.send(text.slice(0, -5))
  await read
  await sendInPieces(connection, text.slice(-5), [])
  expect(await connection.answer()).toMatchObject({ status: 201 })
})

test('when the response finishes, the request has ended and has been destroyed', async () => {
  const seen: unknown[] = []
  const { server, connection, create } = await given((handler) => (request, response) => {
    response.on('finish', () => {
      seen.push([request.complete, request.readableEnded, request.destroyed])
      if (seen.length === 3) server.close()
    })
    handler(request, response)
  })
  for (let i = 0; i < 3; i++) {
    void connection.send(create + petBody())
    await connection.answer()
  }
  await connection.closed()
  expect(seen).toEqual(Array(3).fill([true, true, true]))
})

test('a disconnect after the whole body has arrived causes no error event', async () => {
  const storage = { ...memory().storage, create: () => new Promise<never>(() => {}) }
  const { petStore, authorized } = await storeWithKey({ store: { storage } })
  const handler = toNodeHandler(petStore)
  const events: string[] = []
  let leave = ignore
  let closed: Promise<unknown> = Promise.resolve()
  const { url } = await listening((request, response) => {
    for (const event of ['aborted', 'error', 'end']) request.on(event, () => events.push(event))
    request.on('end', () => leave())
    closed = Promise.all([once(request, 'close'), once(response, 'close')])
    handler(request, response)
  })
  for (let i = 0; i < 3; i++) {
    const connection = await rawConnection(url)
    leave = connection.leave
    void connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}${petBody()}`)
    await connection.closed()
    await closed
  }
  expect(events).toEqual(['end', 'end', 'end'])
})

test('the store and a host that wraps request.on both receive the body', async () => {
  const heard: string[] = []
  const { connection, create } = await given((handler) => (request, response) => {
    const on = request.on.bind(request)
    request.on = ((event: string, listener: (...args: unknown[]) => void) =>
      on(event, (...args: unknown[]) => {
        if (event === 'data') heard.push(String(args[0]))
        listener(...args)
      })) as typeof request.on
    handler(request, response)
  })
  void connection.send(create + petBody())
  expect((await connection.answer()).status).toBe(201)
  expect(heard.join('')).toBe('{"name":"Rex","categoryId":1}')
})

test('with insecureHTTPParser, chunked encoding overrides Content-Length', async () => {
  const { connection, create } = await given((handler) => handler as RequestListener, { insecureHTTPParser: true })
  const json = '{"name":"Rex","categoryId":1}'
  const head = `${create}Content-Type: application/json\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n`
  await connection.send(`${head}9\r\n${json.slice(0, 9)}\r\n`)
  void connection.send(`${(json.length - 9).toString(16)}\r\n${json.slice(9)}\r\n0\r\n\r\n`)
  expect((await connection.answer()).status).toBe(201)
})

import { once } from 'node:events'
import { createServer, type RequestListener, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { toNodeHandler } from '../../adapters/node.ts'
import { keyedStore, petBody, startServer } from '../support/node-server.ts'
import { type RawConnection, rawConnection } from '../support/raw-http.ts'

async function connectTo(listener: RequestListener, options: ServerOptions = {}): Promise<RawConnection> {
  const server = createServer(options, listener).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
}

async function given(host: (handler: ReturnType<typeof toNodeHandler>) => RequestListener, options?: ServerOptions) {
  const { petStore, authorized } = await keyedStore()
  const connection = await connectTo(host(toNodeHandler(petStore)), options)
  return { connection, create: `POST /v1/pets HTTP/1.1\r\n${authorized}` }
}

/** Sends the pieces one by one, each as soon as the server's side of the connection has had time to read the last. */
async function sendInPieces({ socket, send }: RawConnection, text: string, cuts: readonly number[]): Promise<void> {
  const ends = [...new Set(cuts.map((cut) => cut % text.length))].sort((a, b) => a - b)
  for (const [i, end] of [...ends, text.length].entries()) {
    await send(text.slice(ends[i - 1] ?? 0, end))
    for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
  expect(socket.destroyed).toBe(false)
}

test('wherever the bytes are cut, each animal is added, and in its turn', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  const name = fc.string({ unit: fc.constantFrom('a', 'Z', '0', '-'), minLength: 1, maxLength: 40 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(name, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(), { maxLength: 6 }),
      async (names, cuts) => {
        const texts = names.map(
          (name) => `POST /v1/pets HTTP/1.1\r\n${authorized}${petBody(`{"name":"${name}","categoryId":1}`)}`,
        )
        await sendInPieces(connection, texts.join(''), cuts)
        for (const name of names) {
          const { status, body } = await connection.answer()
          expect([status, JSON.parse(body).name]).toEqual([201, name])
        }
      },
    ),
    { numRuns: 60 },
  )
})

test.each(['close', 'keep-alive'])('Connection: %s is answered in kind, and once', async (connection) => {
  const { url, authorized } = await startServer()
  const raw = await rawConnection(url)
  void raw.send(`POST /v1/pets HTTP/1.1\r\n${authorized}Connection: ${connection}\r\n${petBody()}`)
  const answer = await raw.answer()
  expect([answer.status, answer.headers.connection]).toEqual([201, connection])
  if (connection === 'close') await raw.closed()
  else raw.leave()
})

test('a body that a host begins to read behind the handler is an error that says what to do, and no hang', async () => {
  const heard: string[] = []
  const { connection, create } = await given((handler) => (request, response) => {
    handler(request, response)
    request.on('data', (chunk) => heard.push(String(chunk)))
  })
  for (let i = 0; i < 3; i++) {
    void connection.send(create + petBody())
    expect(JSON.parse((await connection.answer()).body)).toMatchObject({ code: 'body_already_read' })
  }
  expect(heard).toEqual(Array(3).fill('{"name":"Rex","categoryId":1}'))
})

test('a host that has put its own function before the events of the request sees the body go by', async () => {
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

test.each(['data', 'readable'])(
  'a host that has paused a request, and waits for %s, gets its animal added',
  async (event) => {
    const { connection, create } = await given((handler) => (request, response) => {
      request.on(event, () => {})
      request.pause()
      handler(request, response)
    })
    for (let i = 0; i < 3; i++) {
      void connection.send(create + petBody())
      expect((await connection.answer()).status).toBe(201)
    }
  },
)

test('the request ends and closes, as a host that waits for it expects', async () => {
  const closed: Promise<unknown>[] = []
  const { connection, create } = await given((handler) => (request, response) => {
    closed.push(Promise.all([once(request, 'end'), once(request, 'close')]))
    handler(request, response)
  })
  for (let i = 0; i < 3; i++) {
    void connection.send(create + petBody())
    expect((await connection.answer()).status).toBe(201)
  }
  await Promise.all(closed)
  expect(closed).toHaveLength(3)
})

test.each(['utf8', 'hex'] as const)(
  'where the host has asked for text in %s, the animal is added as it came',
  async (encoding) => {
    const { connection, create } = await given((handler) => (request, response) => {
      request.setEncoding(encoding)
      handler(request, response)
    })
    for (let i = 0; i < 3; i++) {
      void connection.send(create + petBody())
      expect(JSON.parse((await connection.answer()).body)).toMatchObject({ name: 'Rex' })
    }
  },
)

test('a lenient parser may let a length stand beside chunks: the chunks are the body', async () => {
  const { connection, create } = await given((handler) => handler as RequestListener, { insecureHTTPParser: true })
  const json = '{"name":"Rex","categoryId":1}'
  const head = `${create}Content-Type: application/json\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n`
  await connection.send(`${head}9\r\n${json.slice(0, 9)}\r\n`)
  void connection.send(`${(json.length - 9).toString(16)}\r\n${json.slice(9)}\r\n0\r\n\r\n`)
  expect((await connection.answer()).status).toBe(201)
})

import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { trackConnections } from '../../../../adapters/hosts/node/connections.ts'
import { memory, type Pet, type PetStoreOptions } from '../../../../src/index.ts'
import { systemClock } from '../../../../src/support/time.ts'
import { within } from '../../../support/deadline.ts'
import { expectSilence, petBody, signalled, startServer } from '../../../support/node-server.ts'
import { type RawConnection, rawConnection } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

const LONG = 3_600_000

/** A store whose `list` waits until the test calls `open`. */
function gated() {
  const { storage } = memory()
  const gate = signalled<readonly Pet[]>()
  const asked = signalled()
  const list = () => {
    asked.resolve()
    return gate.promise
  }
  return { store: { storage: { ...storage, list } }, asked: asked.promise, open: () => gate.resolve([]) }
}

async function isRefused(url: string): Promise<boolean> {
  const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port) })
  const refused = new Promise<boolean>((resolve) => {
    socket.on('error', () => resolve(true)).on('connect', () => resolve(false))
  })
  return within(refused, 'the refusal').finally(() => socket.destroy())
}

describe('close', () => {
  test('close finishes a running request and refuses new connections', async () => {
    const { store, asked, open } = gated()
    const { url, authorized, close } = await startServer({ store, closeTimeout: LONG })
    const connection = await rawConnection(url)
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    await within(asked, 'the storage')
    const closed = close()
    expect(await isRefused(url)).toBe(true)
    open()
    const answer = await connection.answer()
    expect(answer.status).toBe(200)
    expect(answer.headers.connection).toBe('close')
    await connection.closed()
    await within(closed, 'close')
  })

  test('close waits for a client that reads a response slowly', async () => {
    const list = () => [{ id: 1n, name: 'x'.repeat(6_000_000), categoryId: 1n, status: 'available' } as const]
    const { storage } = memory()
    const { url, authorized, close } = await startServer({
      store: { storage: { ...storage, list } },
      closeTimeout: LONG,
    })
    const [slow, kept] = [await rawConnection(url), await rawConnection(url)]
    await kept.send(`GET /v1/pets/0 HTTP/1.1\r\n${authorized}\r\n`)
    await kept.answer()
    slow.socket.pause()
    await slow.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    await once(slow.socket, 'readable')
    const closed = close()
    expect(await isRefused(url)).toBe(true)
    slow.socket.resume()
    expect(JSON.parse((await slow.answer()).body)).toHaveLength(1)
    await within(closed, 'close')
    await kept.closed()
  })

  test('close ends an idle connection while another is busy', async () => {
    const { store, asked, open } = gated()
    const { url, authorized, close } = await startServer({ store, closeTimeout: LONG })
    const [busy, kept] = [await rawConnection(url), await rawConnection(url)]
    await kept.send(`GET /v1/pets/0 HTTP/1.1\r\n${authorized}\r\n`)
    await kept.answer()
    await busy.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    await within(asked, 'the storage')
    const closed = close()
    await within(kept.closed(), 'the end of the idle connection')
    open()
    expect((await busy.answer()).status).toBe(200)
    await within(closed, 'close')
  })

  test('close finishes a running upload', async () => {
    const { url, authorized, close } = await startServer({ closeTimeout: LONG })
    const connection = await rawConnection(url)
    const [head, body] = petBody().split('\r\n\r\n') as [string, string]
    await connection.send(`POST /v1/pets HTTP/1.1\r\n${authorized}Expect: 100-continue\r\n${head}\r\n\r\n`)
    expect((await connection.answer()).status).toBe(100)
    const closed = close()
    await connection.send(body)
    const answer = await connection.answer()
    expect([answer.status, answer.headers.connection]).toEqual([201, 'close'])
    await within(closed, 'close')
  })

  test.each([
    ['an upload that never ends', 'POST /v1/pets', 'Content-Type: application/json\r\nContent-Length: 99\r\n\r\n{'],
    ['headers that never end', 'GET /v1/pets', 'X-A: b'],
    ['a rejected upload that never arrives', 'GET /v1/pets', 'Content-Length: 99\r\n\r\n'],
  ])('close waits at most closeTimeout for %s', async (_name, line, rest) => {
    const { url, authorized, close } = await startServer({ closeTimeout: 20 })
    const connection = await rawConnection(url)
    await connection.send(`${line} HTTP/1.1\r\n${authorized}${rest}`)
    await within(close(), 'close')
    await connection.closed()
  })

  test('close leaves no timer that would keep the process alive', async () => {
    const { close } = await startServer({ closeTimeout: LONG })
    const [set, clear] = [vi.spyOn(globalThis, 'setTimeout'), vi.spyOn(globalThis, 'clearTimeout')]
    onTestFinished(() => void [set, clear].map((spy) => spy.mockRestore()))
    await close()
    // Connections of earlier tests may still set timers of other lengths.
    const index = set.mock.calls.findIndex(([, delay]) => delay === LONG)
    expect(index).toBeGreaterThanOrEqual(0)
    expect(clear).toHaveBeenCalledWith(set.mock.results[index]?.value)
  })

  test('close may be called more than once', async () => {
    const { close } = await startServer()
    await Promise.all([close(), close()])
    await close()
  })
})

describe('drainDelay', () => {
  /** Starts a server. Its `close` first replaces timers by fake timers, and returns a function that lets `drainDelay` pass. */
  async function drain(store: PetStoreOptions = {}) {
    const server = await startServer({
      store,
      drainDelay: LONG,
      closeTimeout: LONG,
    })
    return {
      ...server,
      close() {
        vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
        onTestFinished(() => void vi.useRealTimers())
        const closed = server.close()
        return () => {
          vi.advanceTimersByTime(LONG)
          return within(closed, 'close')
        }
      },
    }
  }
  const answerOf = async (connection: RawConnection, head: string) => {
    await connection.send(`${head}\r\n`)
    const { status, headers, body } = await connection.answer()
    return { status, connection: headers.connection, body }
  }

  test('until drainDelay has passed, close serves one last request per connection', async () => {
    const { url, authorized, close } = await drain()
    const [kept, silent] = [await rawConnection(url), await rawConnection(url)]
    const ready = 'GET /ready HTTP/1.1\r\nHost: a\r\n'
    expect(await answerOf(kept, ready)).toMatchObject({ status: 200, connection: 'keep-alive' })
    const end = close()
    expect(await answerOf(kept, `GET /v1/pets HTTP/1.1\r\n${authorized}`)).toMatchObject({
      status: 200,
      connection: 'close',
    })
    await kept.closed()
    expect(await answerOf(await rawConnection(url), ready)).toEqual({
      status: 503,
      connection: 'close',
      body: '{"status":"closing","failing":[]}',
    })
    expect((await answerOf(silent, `GET /v1/pets HTTP/1.1\r\n${authorized}`)).status).toBe(200)
    await end()
    expect(await isRefused(url)).toBe(true)
  })

  test('after close, the next request of an open connection still gets its response', async () => {
    const list = () => [{ id: 1n, name: 'x'.repeat(6_000_000), categoryId: 1n, status: 'available' } as const]
    const { url, authorized, close } = await drain({ storage: { ...memory().storage, list } })
    const connection = await rawConnection(url)
    connection.socket.pause()
    await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    await once(connection.socket, 'readable')
    const end = close()
    connection.socket.resume()
    expect((await connection.answer()).headers.connection).toBe('keep-alive')
    const next = await answerOf(connection, `GET /v1/pets/1 HTTP/1.1\r\n${authorized}`)
    expect(next).toMatchObject({ status: 404, connection: 'close' })
    await end()
  })

  test('the server goes on listening until a turn of the event loop is short', async () => {
    const server = createServer()
    onTestFinished(() => void server.close())
    const { close } = trackConnections(server, { drainDelay: LONG })
    await once(server.listen(0, '127.0.0.1'), 'listening')
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const clock = { time: 0, step: 1 }
    const monotonic = vi.spyOn(systemClock, 'monotonic').mockImplementation(() => {
      clock.time += clock.step
      return clock.time
    })
    onTestFinished(() => monotonic.mockRestore())
    const closed = close()
    vi.advanceTimersByTime(LONG)
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
    expect(server.listening).toBe(true)
    clock.step = 0
    await within(closed, 'close')
    expect(server.listening).toBe(false)
  })
})

test('close serves a request that has arrived on an idle connection', async () => {
  const { url, authorized, close } = await startServer({ closeTimeout: LONG })
  const connection = await rawConnection(url)
  const get = `GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`
  await connection.send(get)
  await connection.answer()
  connection.socket.write(get)
  const closed = close()
  expect((await connection.answer()).headers.connection).toBe('close')
  await within(closed, 'close')
})

test('close waits ten seconds for running requests by default', async () => {
  const { store, asked } = gated()
  const { url, authorized, close } = await startServer({ store, closeTimeout: undefined })
  const connection = await rawConnection(url)
  await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
  await within(asked, 'the storage')
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const closed = close()
  vi.advanceTimersByTime(9_999)
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(connection.socket.readyState).toBe('open')
  vi.advanceTimersByTime(1)
  vi.useRealTimers()
  await within(closed, 'close')
})

test('close serves a request whose headers have arrived only in part', async () => {
  const { url, authorized, close } = await startServer({ closeTimeout: LONG })
  const connection = await rawConnection(url)
  await connection.send('GET /v1/pets HTTP/1.1\r\n')
  await rawConnection(url).then(({ leave }) => leave())
  const closed = close()
  await connection.send(`${authorized}\r\n`)
  const answer = await connection.answer()
  expect([answer.status, answer.headers.connection]).toEqual([200, 'close'])
  await connection.closed()
  await within(closed, 'close')
})

test('close does not wait for a client that has disconnected', async () => {
  const pet = { name: 'x'.repeat(100_000), categoryId: 1n, status: 'available' } as const
  const pets = Array.from({ length: 100 }, (_, i) => ({ ...pet, id: BigInt(i) }))
  const asked = signalled()
  const list = () => {
    asked.resolve()
    return pets
  }
  const { url, authorized, close } = await startServer({
    store: { storage: { ...memory().storage, list } },
    closeTimeout: LONG,
  })
  const [slow, kept] = [await rawConnection(url), await rawConnection(url)]
  await kept.send(`GET /v1/pets/0 HTTP/1.1\r\n${authorized}\r\n`)
  await kept.answer()
  slow.socket.pause()
  const get = `GET /v1/pets?limit=100 HTTP/1.1\r\n${authorized}\r\n`
  await slow.send(get + get + get)
  await within(asked.promise, 'the storage')
  await once(slow.socket, 'readable')
  const closed = close()
  slow.socket.resetAndDestroy()
  await within(closed, 'close')
  await kept.closed()
})

import { once } from 'node:events'
import { Server } from 'node:http'
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { memory, type Pet } from '../../../../src/index.ts'
import { within } from '../../../support/deadline.ts'
import { expectSilence, signalled, startServer } from '../../../support/node-server.ts'
import { rawConnection } from '../../../support/raw-http.ts'
import { until } from '../../../support/until.ts'

beforeEach(expectSilence)

const LONG = 3_600_000
const pets: readonly Pet[] = Array.from({ length: 100 }, (_, i) => ({
  id: BigInt(i),
  name: 'x'.repeat(60_000),
  status: 'available',
  categoryId: 1n,
}))

/** Starts a server and a client that sends `count` requests and reads nothing. The first response is long, so the others wait. */
async function unread(count: number) {
  const { storage } = memory()
  const asked = signalled()
  let lists = 0
  const list = () => {
    asked.resolve()
    return ++lists === 1 ? pets : []
  }
  const server = await startServer({ store: { storage: { ...storage, list } }, closeTimeout: LONG })
  const connection = await rawConnection(server.url)
  connection.socket.pause()
  await connection.send(`GET /v1/pets?limit=100 HTTP/1.1\r\n${server.authorized}\r\n`.repeat(count))
  await within(asked.promise, 'the storage')
  await once(connection.socket, 'readable')
  return { ...server, connection }
}

test('close also closes the Node HTTP server after a pending response', async () => {
  // `http.Server.close` stops the timer that checks connections for timeouts. `net.Server.close` does not stop it.
  const closeServer = vi.spyOn(Server.prototype, 'close')
  onTestFinished(() => void closeServer.mockRestore())
  const { connection, close } = await unread(1)
  const closed = close()
  expect(closeServer).not.toHaveBeenCalled()
  connection.socket.resume()
  expect((await connection.answer()).status).toBe(200)
  await within(closed, 'close')
  await until(async () => closeServer.mock.calls.length > 0)
})

test('close causes no warning of Node while 20 responses are pending', async () => {
  const warnings: string[] = []
  const listen = ({ name }: Error) => void warnings.push(name)
  process.on('warning', listen)
  onTestFinished(() => void process.off('warning', listen))
  const { connection, close } = await unread(20)
  const closed = close()
  connection.socket.resume()
  for (let i = 0; i < 20; i++) expect((await connection.answer()).status).toBe(200)
  await within(closed, 'close')
  expect(warnings).toEqual([])
})

test('close waits for a response that starts while another is pending', async () => {
  const { storage } = memory()
  const gate = signalled()
  const asked = signalled()
  let lists = 0
  const list = async () => {
    if (++lists === 2) {
      asked.resolve()
      await gate.promise
    }
    return pets
  }
  const server = await startServer({ store: { storage: { ...storage, list } }, closeTimeout: LONG })
  const get = `GET /v1/pets?limit=100 HTTP/1.1\r\n${server.authorized}\r\n`
  const [first, second] = [await rawConnection(server.url), await rawConnection(server.url)]
  for (const { socket } of [first, second]) socket.pause()
  await first.send(get)
  await once(first.socket, 'readable')
  await second.send(get)
  await within(asked.promise, 'the storage')
  const closed = server.close()
  gate.resolve()
  await once(second.socket, 'readable')
  first.socket.resume()
  expect((await first.answer()).status).toBe(200)
  await first.closed()
  second.socket.resume()
  expect(JSON.parse((await second.answer()).body)).toHaveLength(100)
  await within(closed, 'close')
})

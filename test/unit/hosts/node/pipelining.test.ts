import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { beforeEach, expect, test } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { memory } from '../../../../src/index.ts'
import { within } from '../../../support/deadline.ts'
import { expectSilence, startHost, startServer, storeWithKey } from '../../../support/node-server.ts'
import { rawConnection, rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

test('serves exactly 60 of 500 pipelined requests under a limit of 60', async () => {
  const { url, authorized } = await startServer({ perMinute: 60 })
  const connection = await rawConnection(url)
  void connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`.repeat(500))
  const statuses: number[] = []
  while (statuses.length < 500) statuses.push((await connection.answer()).status)
  expect(statuses).toEqual([...Array(60).fill(200), ...Array(440).fill(429)])
})

/** A storage whose `list` never responds, and counts its calls. */
function stuckStorage() {
  const calls = { count: 0 }
  const list = () => {
    calls.count++
    return new Promise<never>(() => {})
  }
  return { calls, storage: { ...memory().storage, list } }
}

test('closes a connection that floods the server with pipelined requests', async () => {
  const { calls, storage } = stuckStorage()
  const { url, authorized } = await startServer({ store: { storage } })
  const connection = await rawConnection(url)
  void connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`.repeat(50_000))
  await connection.closed()
  expect(calls.count).toBeLessThanOrEqual(1_001)
  expect((await rawRequest(url, `GET /v1/pets/1 HTTP/1.1\r\n${authorized}\r\n`)).status).toBe(404)
})

test('serves a client that always has a request under way, for longer than a flood', async () => {
  const { url, authorized } = await startServer()
  const connection = await rawConnection(url)
  const pair = `GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`.repeat(2)
  await connection.send(pair)
  for (let i = 0; i < 600; i++) {
    void connection.send(pair)
    expect([(await connection.answer()).status, (await connection.answer()).status]).toEqual([200, 200])
  }
})

test('clients that leave behind a route of the host keep no connection open', async () => {
  const { petStore, authorized } = await storeWithKey()
  const handler = toNodeHandler(petStore)
  const sockets: Socket[] = []
  // `/hang` of the host never responds.
  const server = createServer((request, response) => {
    if (request.url !== '/hang') handler(request, response)
  })
  server.on('connection', (socket) => sockets.push(socket))
  const url = await startHost(server)
  for (let i = 0; i < 20; i++) {
    const connection = await rawConnection(url)
    await connection.send(`GET /hang HTTP/1.1\r\nHost: a\r\n\r\nGET /v1/pets HTTP/1.1\r\n${authorized}\r\n`)
    connection.socket.end()
    await connection.closed()
  }
  expect(sockets).toHaveLength(20)
  await within(
    Promise.all(sockets.filter((socket) => !socket.destroyed).map((socket) => once(socket, 'close'))),
    'the end of all connections',
  )
})

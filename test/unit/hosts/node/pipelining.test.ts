import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { memory } from '../../../../src/index.ts'
import { expectSilence, signalled, startServer, storeWithKey } from '../../../support/node-server.ts'
import { type RawConnection, type RawResponse, rawConnection, rawRequest } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

async function answers(connection: RawConnection, count: number): Promise<RawResponse[]> {
  const all: RawResponse[] = []
  while (all.length < count) all.push(await connection.answer())
  return all
}

test('serves exactly 60 of 500 pipelined requests under a limit of 60', async () => {
  const { url, authorized } = await startServer({ perMinute: 60 })
  const connection = await rawConnection(url)
  void connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`.repeat(500))
  const all = await answers(connection, 500)
  const served = all.filter(({ status }) => status === 200)
  expect(served.map(({ headers }) => Number(headers['x-ratelimit-remaining']))).toEqual(
    Array.from({ length: 60 }, (_, i) => 59 - i),
  )
  const refused = all.filter(({ status }) => status === 429)
  expect(refused).toHaveLength(440)
  for (const { headers } of refused) {
    expect(headers).toMatchObject({ 'x-ratelimit-remaining': '0', 'retry-after': '60' })
  }
})

test('a pipelined request starts only after the client has read the earlier response', async () => {
  const names = 'x'.repeat(60_000)
  const first = signalled()
  let lists = 0
  const list = () => {
    lists++
    first.resolve()
    return Array.from(
      { length: 100 },
      (_, i) => ({ id: BigInt(i), name: names, categoryId: 1n, status: 'available' }) as const,
    )
  }
  const { url, authorized } = await startServer({ store: { storage: { ...memory().storage, list } } })
  const [slow, other] = [await rawConnection(url), await rawConnection(url)]
  slow.socket.pause()
  await slow.send(`GET /v1/pets?limit=100 HTTP/1.1\r\n${authorized}\r\n`.repeat(5))
  await first.promise
  await other.send(`GET /v1/pets/1 HTTP/1.1\r\n${authorized}\r\n`)
  expect((await other.answer()).status).toBe(404)
  expect(lists).toBe(1)
  slow.socket.resume()
  for (let i = 0; i < 5; i++) expect((await slow.answer()).status).toBe(200)
  expect(lists).toBe(5)
})

test('stops reading from a client that reads no responses', async () => {
  const list = () => new Promise<never>(() => {})
  const { petStore, authorized } = await storeWithKey({ store: { storage: { ...memory().storage, list } } })
  const server = createServer(toNodeHandler(petStore)).listen(0, '127.0.0.1')
  onTestFinished(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const accepted = once(server, 'connection')
  const flood = await rawConnection(url)
  const [socket] = (await accepted) as [Socket]
  void flood.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`.repeat(100_000))
  const other = await rawConnection(url)
  for (let turn = 0; turn < 100; turn++) {
    await other.send(`GET /v1/pets/1 HTTP/1.1\r\n${authorized}\r\n`)
    expect((await other.answer()).status).toBe(404)
  }
  expect(socket.bytesRead).toBeLessThan(1_000_000)
  flood.leave()
  other.leave()
})

test('drops the requests of a connection that has closed', async () => {
  const started = signalled()
  let lists = 0
  const list = () => {
    lists++
    started.resolve()
    return new Promise<never>(() => {})
  }
  const { url, authorized } = await startServer({ store: { storage: { ...memory().storage, list } } })
  const connection = await rawConnection(url)
  await connection.send(`GET /v1/pets HTTP/1.1\r\n${authorized}\r\n`.repeat(50))
  await started.promise
  connection.socket.resetAndDestroy()
  expect((await rawRequest(url, `GET /v1/pets/1 HTTP/1.1\r\n${authorized}\r\n`)).status).toBe(404)
  expect(lists).toBe(1)
})

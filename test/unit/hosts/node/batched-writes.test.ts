import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type BatchWrite, batchedWrites } from '../../../../adapters/hosts/node/batched-writes.ts'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { manualClock } from '../../../../src/testing/index.ts'
import { keyedStore } from '../../../support/node-server.ts'
import { rawConnection } from '../../../support/raw-http.ts'

/** Creates the scheduler of batched writes with a clock that the test moves. */
function scheduler() {
  const clock = manualClock()
  return { clock, batchWrite: batchedWrites(clock.now) }
}

/** Schedules responses in one event-loop turn. Returns how many were held back, and how many were still held after the turn. */
async function turn(batchWrite: BatchWrite, responses: number): Promise<{ batched: number; stuck: number }> {
  const batches = Array.from({ length: responses }, batchWrite).filter((batch) => batch !== undefined)
  let stuck = batches.length
  for (const batch of batches) void batch.then(() => stuck--)
  await setImmediate()
  return { batched: batches.length, stuck }
}

/** Creates a scheduler that has had turns with many responses, so that it batches them. */
async function busyScheduler() {
  const one = scheduler()
  for (let i = 0; i < 4; i++) await turn(one.batchWrite, 20)
  return one
}

test('writes every response by the end of its event-loop turn', async () => {
  const property = fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 40 }), async (turns) => {
    const { batchWrite } = scheduler()
    for (const responses of turns) expect((await turn(batchWrite, responses)).stuck).toBe(0)
  })
  await fc.assert(property, { numRuns: 50 })
})

test('writes the only response of a turn without delay', async () => {
  const { batchWrite } = scheduler()
  for (let i = 0; i < 100; i++) expect((await turn(batchWrite, 1)).batched).toBe(0)
})

test('batches responses until a turn has only one response', async () => {
  const { batchWrite } = await busyScheduler()
  for (const responses of [20, 2, 2, 1]) expect((await turn(batchWrite, responses)).batched).toBe(responses)
  expect((await turn(batchWrite, 1)).batched).toBe(0)
})

test('batches at most 32 responses', async () => {
  const { batchWrite } = await busyScheduler()
  const batches = Array.from({ length: 100 }, batchWrite)
  const sizes = [...new Set(batches)].map((batch) => batches.filter((other) => other === batch).length)
  expect(sizes).toEqual([32, 32, 32, 4])
  await setImmediate()
})

test('a turn with many short responses is no long turn', async () => {
  const { batchWrite, clock } = await busyScheduler()
  for (let turns = 0; turns < 3; turns++) {
    for (let i = 0; i < 256; i++) {
      expect(batchWrite()).toBeInstanceOf(Promise)
      clock.advance(0.1)
    }
    await setImmediate()
  }
})

test('writes a response at once if its turn has already been long', async () => {
  const { batchWrite, clock } = await busyScheduler()
  expect(batchWrite()).toBeInstanceOf(Promise)
  clock.advance(6)
  expect(batchWrite()).toBeUndefined()
  await setImmediate()
})

/** Lets a turn of the event loop with one response take 20 ms. */
async function longTurn({ clock, batchWrite }: ReturnType<typeof scheduler>): Promise<void> {
  batchWrite()
  clock.advance(20)
  await setImmediate()
}

test('batches responses after a single long turn', async () => {
  const one = await busyScheduler()
  await longTurn(one)
  one.clock.advance(100)
  await turn(one.batchWrite, 20)
  await longTurn(one)
  await turn(one.batchWrite, 50)
  expect((await turn(one.batchWrite, 20)).batched).toBe(20)
})

test('batches nothing for 100 ms after two long turns', async () => {
  const one = await busyScheduler()
  await longTurn(one)
  await longTurn(one)
  one.clock.advance(99)
  expect((await turn(one.batchWrite, 20)).batched).toBe(0)
  one.clock.advance(1)
  await turn(one.batchWrite, 50)
  expect((await turn(one.batchWrite, 20)).batched).toBe(20)
})

test('writes a batch under fake timers', async () => {
  const { batchWrite } = await busyScheduler()
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const batch = batchWrite()
  expect(batch).toBeInstanceOf(Promise)
  await batch
})

test('writes a batch if fake timers were installed first', async () => {
  vi.resetModules()
  onTestFinished(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })
  vi.stubGlobal('setImmediate', () => ({}))
  vi.stubGlobal('clearImmediate', () => {})
  const { batchedWrites } = await import('../../../../adapters/hosts/node/batched-writes.ts')
  const batchWrite = batchedWrites(() => 0)
  for (let i = 0; i < 200; i++) await batchWrite()
})

test('writes each response in the async context of its request', async () => {
  const { petStore, authorized } = await keyedStore()
  const handler = toNodeHandler(petStore)
  const context = new AsyncLocalStorage<string>()
  const finished: [string | undefined, string | undefined][] = []
  const server = createServer((request, response) =>
    context.run(request.url ?? '', () => {
      response.on('finish', () => finished.push([request.url, context.getStore()]))
      handler(request, response)
    }),
  ).listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connections = await Promise.all(Array.from({ length: 40 }, () => rawConnection(url)))
  for (let round = 0; round < 10; round++) {
    for (const [i, connection] of connections.entries())
      void connection.send(`GET /v1/pets?round=${round}&i=${i} HTTP/1.1\r\n${authorized}\r\n`)
    await Promise.all(connections.map((connection) => connection.answer()))
  }
  expect(new Set(finished.map(([asked]) => asked)).size).toBe(400)
  for (const [asked, written] of finished) expect(written).toBe(asked)
})

import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { writingTime } from '../../adapters/node/writing-time.ts'
import { toNodeHandler } from '../../adapters/node.ts'
import { keyedStore } from '../support/node-server.ts'
import { rawConnection } from '../support/raw-http.ts'

/** How many of so many answers in one turn were held back, and which of those are still so when it has ended. */
async function turn(answers: number): Promise<{ held: number; stuck: number }> {
  const times = Array.from({ length: answers }, writingTime).filter((time) => time !== undefined)
  let stuck = times.length
  for (const time of times) void time.then(() => stuck--)
  await setImmediate()
  return { held: times.length, stuck }
}

/** Many answers in each of some turns: one of them is looked at. */
async function makeBusy(): Promise<void> {
  for (let i = 0; i < 4; i++) await turn(20)
}

test('whatever comes in whichever turn, nothing is held back beyond its end', async () => {
  const property = fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 40 }), async (turns) => {
    for (const answers of turns) expect((await turn(answers)).stuck).toBe(0)
  })
  await fc.assert(property, { numRuns: 50 })
})

test('where few come at a time, none is held back', async () => {
  await turn(1)
  for (let i = 0; i < 100; i++) expect((await turn(5)).held).toBe(0)
})

test('where many come at a time, they are held back, until few come again', async () => {
  await makeBusy()
  expect((await turn(20)).held).toBe(20)
  expect((await turn(3)).held).toBe(3)
  expect((await turn(3)).held).toBe(0)
})

test('no more than 32 wait for one another', async () => {
  await makeBusy()
  const times = Array.from({ length: 100 }, writingTime)
  const sizes = [...new Set(times)].map((time) => times.filter((other) => other === time).length)
  expect(sizes).toEqual([32, 32, 32, 4])
  await Promise.all(times.slice(0, 96))
  await setImmediate()
})

test('fake timers that a test sets later hold nothing back', async () => {
  await makeBusy()
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const time = writingTime()
  expect(time).toBeInstanceOf(Promise)
  await time
})

test('each answer is written in the async context of its own request', async () => {
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
  for (let round = 0; round < 5; round++) {
    await makeBusy()
    for (const [i, connection] of connections.entries())
      void connection.send(`GET /v1/pets?round=${round}&i=${i} HTTP/1.1\r\n${authorized}\r\n`)
    await Promise.all(connections.map((connection) => connection.answer()))
  }
  expect(new Set(finished.map(([asked]) => asked)).size).toBe(200)
  for (const [asked, written] of finished) expect(written).toBe(asked)
})

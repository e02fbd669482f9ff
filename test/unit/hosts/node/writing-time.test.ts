import { AsyncLocalStorage } from 'node:async_hooks'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type WritingTime, writingTimes } from '../../../../adapters/hosts/node/batched-writes.ts'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { keyedStore } from '../../../support/node-server.ts'
import { rawConnection } from '../../../support/raw-http.ts'

/** How many of so many answers in one turn were held back, and which of those are still so when it has ended. */
async function turn(writingTime: WritingTime, answers: number): Promise<{ held: number; stuck: number }> {
  const times = Array.from({ length: answers }, writingTime).filter((time) => time !== undefined)
  let stuck = times.length
  for (const time of times) void time.then(() => stuck--)
  await setImmediate()
  return { held: times.length, stuck }
}

/** That of a door that has written many answers in each of some turns, one of which was looked at. */
async function busy(): Promise<WritingTime> {
  const writingTime = writingTimes()
  for (let i = 0; i < 4; i++) await turn(writingTime, 20)
  return writingTime
}

test('whatever comes in whichever turn, nothing is held back beyond its end', async () => {
  const property = fc.asyncProperty(fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 40 }), async (turns) => {
    const writingTime = writingTimes()
    for (const answers of turns) expect((await turn(writingTime, answers)).stuck).toBe(0)
  })
  await fc.assert(property, { numRuns: 50 })
})

test('where one comes at a time, none is held back', async () => {
  const writingTime = writingTimes()
  for (let i = 0; i < 100; i++) expect((await turn(writingTime, 1)).held).toBe(0)
})

test('where several come at a time, they are held back, until one comes alone', async () => {
  const writingTime = await busy()
  for (const answers of [20, 2, 2, 1]) expect((await turn(writingTime, answers)).held).toBe(answers)
  expect((await turn(writingTime, 1)).held).toBe(0)
})

test('no more than 32 wait for one another', async () => {
  const writingTime = await busy()
  const times = Array.from({ length: 100 }, writingTime)
  const sizes = [...new Set(times)].map((time) => times.filter((other) => other === time).length)
  expect(sizes).toEqual([32, 32, 32, 4])
  await Promise.all(times.slice(0, 96))
  await setImmediate()
})

test('fake timers that a test sets later hold nothing back', async () => {
  const writingTime = await busy()
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const time = writingTime()
  expect(time).toBeInstanceOf(Promise)
  await time
})

test('fake timers that a test had set before hold nothing back either', async () => {
  vi.resetModules()
  onTestFinished(() => {
    vi.doUnmock('node:timers')
    vi.resetModules()
  })
  const due: (() => void)[] = []
  vi.doMock('node:timers', () => ({
    setImmediate: (callback: () => void) => ({ id: due.push(callback) }),
    clearImmediate: () => {},
  }))
  const { writingTimes } = await import('../../../../adapters/hosts/node/batched-writes.ts')
  const writingTime = writingTimes()
  for (let i = 0; i < 200; i++) {
    if (i === 100) for (const callback of due.splice(0)) callback()
    expect(writingTime()).toBeUndefined()
  }
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
  for (let round = 0; round < 10; round++) {
    for (const [i, connection] of connections.entries())
      void connection.send(`GET /v1/pets?round=${round}&i=${i} HTTP/1.1\r\n${authorized}\r\n`)
    await Promise.all(connections.map((connection) => connection.answer()))
  }
  expect(new Set(finished.map(([asked]) => asked)).size).toBe(400)
  for (const [asked, written] of finished) expect(written).toBe(asked)
})

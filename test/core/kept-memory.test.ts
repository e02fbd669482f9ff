import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { encodeCursor } from '../../src/cursor.ts'
import { cached } from '../../src/index.ts'
import { originForm } from '../../src/target.ts'
import { startApi } from '../support/api.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

/** A text as a socket brings it: in one piece. */
const received = (text: string) => Buffer.from(text).toString('latin1')

/** By how much a run makes the heap grow, in bytes. */
async function growth(run: () => Promise<void>): Promise<number> {
  collect()
  const before = process.memoryUsage().heapUsed
  await run()
  collect()
  return process.memoryUsage().heapUsed - before
}

const LONG = 16_000
const MANY = 900

test('what is remembered of a page and a target keeps nothing of the long ones that they were asked for by', async () => {
  const api = await startApi({ plans: { free: { perMinute: 10_000, perDay: 10_000 } } })
  for (let i = 0; i <= MANY; i++) await api.storage.create({ name: 'Rex', categoryId: 1n })
  const grown = await growth(async () => {
    for (let i = 0; i < MANY; i++) {
      const target = `/v1/pets?limit=1&cursor=${encodeCursor(BigInt(i))}`
      const long = i % 2 === 0 ? `${target}#${'x'.repeat(LONG)}` : `http://${'x'.repeat(LONG)}${target}`
      // Some doors cut it before the store does.
      const asked = i % 3 === 0 ? originForm(received(long)) : received(long)
      expect((await api.send(asked)).headers.get('link')).toContain('rel="next"')
    }
  })
  expect(grown).toBeLessThan((LONG * MANY) / 4)
})

test('a token that is remembered keeps nothing of the header that it came in', async () => {
  const keyStore = cached({ find: async () => undefined })
  const api = await startApi({ keyStore })
  const grown = await growth(async () => {
    for (let i = 0; i < MANY; i++) {
      const authorization = received(`Bearer${' '.repeat(LONG)}a-token-that-nobody-knows-${i}`)
      expect((await api.send('/v1/pets', { headers: { authorization } })).status).toBe(401)
    }
  })
  expect(grown).toBeLessThan((LONG * MANY) / 3)
})

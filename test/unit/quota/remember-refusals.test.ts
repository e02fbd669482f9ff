import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryQuota } from '../../../src/memory/quota.ts'
import type { MaybePromise, QuotaCount, QuotaRequest } from '../../../src/ports.ts'
import { rememberRefusals } from '../../../src/quota/remember-refusals.ts'
import { manualClock } from '../../../src/testing/index.ts'

/** Wraps a quota store to count its calls. Its clock is `ahead` ms later than the clock of the pet store. */
function observedQuota(ahead = 0) {
  const store = memoryQuota()
  const observed = { calls: 0, spend: (request: QuotaRequest) => spend(request) }
  function spend(request: QuotaRequest): QuotaCount {
    observed.calls++
    return store.spend({ ...request, now: request.now + ahead }) as QuotaCount
  }
  return observed
}

const limits = { perMinute: 2, perDay: 5 }
const banRule = { afterRefusals: 3, seconds: 300 }
const keyRequest = { subject: 'key:a', anonymous: false, limits, ban: banRule }
const addressRequest = { subject: 'address:a', anonymous: true, limits, ban: false } as const

const larger = { perMinute: 4, perDay: 9 }
const unbanned = { ...keyRequest, subject: 'key:b', ban: false } as const

test.each([0, 3_599_000])('gives the counts of the quota store, whose clock is %i ms ahead', async (ahead) => {
  const step = fc.record({
    advance: fc.constantFrom(0, 1, 999, 4_000, 20_000, 60_000, 300_000, 86_400_000, -1, -60_000),
    isDown: fc.boolean(),
    request: fc.constantFrom<Omit<QuotaRequest, 'now'>>(
      keyRequest,
      { ...keyRequest, limits: larger },
      unbanned,
      { ...unbanned, limits: larger },
      addressRequest,
    ),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = manualClock()
      const [bare, inner] = [observedQuota(ahead), observedQuota(ahead)]
      let isDown = false
      const guarded = rememberRefusals({
        spend(request) {
          if (isDown) throw new Error('down')
          return inner.spend(request)
        },
      })
      for (const { advance, request, ...step } of steps) {
        clock.advance(advance)
        isDown = step.isDown
        const asked = { ...request, now: clock.now() }
        const count = await outcomeOf(() => guarded.spend(asked))
        // While the quota store is down, a request is not counted. It fails, or it gets a remembered refusal.
        if (count === 'down') continue
        expect(count).toEqual(bare.spend(asked))
        if (isDown) expect(count.granted).toBe(false)
      }
    }),
    { numRuns: 1_000 },
  )
})

async function outcomeOf(spend: () => MaybePromise<QuotaCount>): Promise<QuotaCount | 'down'> {
  try {
    return await spend()
  } catch {
    return 'down'
  }
}

test('remembers the 10,000 clients that were refused last', async () => {
  const store = observedQuota()
  const { spend } = rememberRefusals(store)
  const ask = (subject: string) => spend({ ...addressRequest, subject, limits: { perMinute: 1, perDay: 1 }, now: 0 })
  for (let client = 0; client <= 10_000; client++) for (let i = 0; i < 2; i++) await ask(`address:${client}`)
  store.calls = 0
  for (let client = 1; client <= 10_000; client++) await ask(`address:${client}`)
  expect(store.calls).toBe(0)
  await ask('address:0')
  expect(store.calls).toBe(1)
})

test('after the clock steps back, no refusal outlasts its window', async () => {
  // During the refusal, the pet store's clock is an hour ahead of the quota store's clock, which shows the right time.
  const inner = memoryQuota()
  let right = Date.UTC(2030, 0, 1, 23, 30)
  const { spend } = rememberRefusals({ spend: (request) => inner.spend({ ...request, now: right }) })
  const ask = (ahead: number) => spend({ ...addressRequest, limits: { perMinute: 1, perDay: 1 }, now: right + ahead })
  await ask(3_600_000)
  expect(await ask(3_600_000)).toMatchObject({ granted: false })
  await spend({ ...addressRequest, subject: 'address:other', now: right })
  right += 3_700_000
  expect(await ask(0)).toMatchObject({ granted: true })
})

test('a refusal that arrives after the clock has stepped back is not repeated', async () => {
  const store = observedQuota()
  const { spend } = rememberRefusals({ spend: async (request) => store.spend({ ...request, now: 0 }) })
  const ask = (subject: string, now: number) =>
    spend({ ...addressRequest, subject, limits: { perMinute: 0, perDay: 0 }, now })
  await Promise.all([ask('address:a', 3_600_000), ask('address:b', 0)])
  await ask('address:a', 1_000)
  expect(store.calls).toBe(3)
})

test('a refused anonymous client is counted again after its window', async () => {
  // Two seconds before the end of a minute, so that the refusal is still remembered when the next minute begins.
  const clock = manualClock(58_000)
  const store = observedQuota()
  const { spend } = rememberRefusals(store)
  for (let i = 0; i < 100; i++) await spend({ ...addressRequest, now: clock.now() })
  expect(store.calls).toBe(3)
  clock.advance(2_000)
  expect(await spend({ ...addressRequest, now: clock.now() })).toMatchObject({ granted: true })
  expect(store.calls).toBe(4)
})

test('each refusal that counts towards a ban reaches the quota store', async () => {
  const store = observedQuota()
  const { spend } = rememberRefusals(store)
  const bans: boolean[] = []
  for (let i = 0; i < 6; i++) bans.push((await spend({ ...keyRequest, now: 0 })).bannedUntil > 0)
  expect(bans).toEqual([false, false, false, false, true, true])
  expect(store.calls).toBe(5)
})

test('a ban refuses all keys of an account without a call', async () => {
  const store = observedQuota()
  const { spend } = rememberRefusals(store)
  for (let i = 0; i < 5; i++) await spend({ ...keyRequest, now: 0 })
  expect(await spend({ ...keyRequest, limits: larger, now: 0 })).toMatchObject({ granted: false, bannedUntil: 300_000 })
  expect(store.calls).toBe(5)
})

test('without bans, a key with larger limits is served after a refusal of its account', async () => {
  const { spend } = rememberRefusals(observedQuota())
  for (let i = 0; i < 3; i++) await spend({ ...unbanned, now: 0 })
  expect(await spend({ ...unbanned, now: 0 })).toMatchObject({ granted: false })
  expect(await spend({ ...unbanned, limits: larger, now: 0 })).toMatchObject({ granted: true, usedInMinute: 3 })
})

test('a banned key is counted again after its ban', async () => {
  const clock = manualClock()
  const { spend } = rememberRefusals(observedQuota())
  for (let i = 0; i < 6; i++) await spend({ ...keyRequest, now: clock.now() })
  clock.advance(300_000)
  expect(await spend({ ...keyRequest, now: clock.now() })).toMatchObject({ granted: true })
})

test('after a short ban, the quota store decides on requests again', async () => {
  const clock = manualClock()
  const store = observedQuota()
  const { spend } = rememberRefusals(store)
  const ban = { afterRefusals: 2, seconds: 5 }
  for (let i = 0; i < 10; i++) await spend({ ...keyRequest, ban, now: clock.now() })
  expect(store.calls).toBe(4)
  clock.advance(5_000)
  expect(await spend({ ...keyRequest, ban, now: clock.now() })).toMatchObject({ granted: false, bannedUntil: 0 })
  expect(store.calls).toBe(5)
})

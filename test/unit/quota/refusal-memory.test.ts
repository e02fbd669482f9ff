import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryQuota } from '../../../src/memory/index.ts'
import type { QuotaCount, QuotaRequest, QuotaStore } from '../../../src/ports.ts'
import { rememberRefusals } from '../../../src/quota/refusal-memory.ts'
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

/** The parts of a count that do not change during a ban. A quota store that sees no request of the ban starts no window. */
const lasting = (count: QuotaCount | undefined) =>
  count?.bannedUntil ? { granted: count.granted, now: count.now, bannedUntil: count.bannedUntil } : count

test.each([0, 3_600_000])('remembered refusals change no response: quota clock %i ms ahead', async (ahead) => {
  const step = fc.record({
    advance: fc.constantFrom(0, 1, 999, 20_000, 60_000, 300_000, 86_400_000, -1, -60_000),
    request: fc.constantFrom<Omit<QuotaRequest, 'now'>>(keyRequest, addressRequest, {
      ...keyRequest,
      limits: { perMinute: 4, perDay: 9 },
    }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = manualClock()
      const [bare, guarded]: QuotaStore[] = [observedQuota(ahead), rememberRefusals(observedQuota(ahead))]
      for (const { advance, request } of steps) {
        clock.advance(advance)
        const asked = { ...request, now: clock.now() }
        expect(lasting(await guarded?.spend(asked))).toEqual(lasting(await bare?.spend(asked)))
      }
    }),
    { numRuns: 300 },
  )
})

test('a refused anonymous client is counted again after its window', async () => {
  const clock = manualClock()
  const store = observedQuota()
  const { spend } = rememberRefusals(store)
  for (let i = 0; i < 100; i++) await spend({ ...addressRequest, now: clock.now() })
  expect(store.calls).toBe(3)
  clock.advance(60_000)
  expect(await spend({ ...addressRequest, now: clock.now() })).toMatchObject({ granted: true })
  expect(store.calls).toBe(4)
})

test('a banned key is counted again after its ban', async () => {
  const clock = manualClock()
  const store = observedQuota()
  const { spend } = rememberRefusals(store)
  for (let i = 0; i < 1_000; i++) await spend({ ...keyRequest, now: clock.now() })
  expect(store.calls).toBe(2 + banRule.afterRefusals)
  clock.advance(300_000)
  expect(await spend({ ...keyRequest, now: clock.now() })).toMatchObject({ granted: true })
})

test('refusals after a short ban reach the quota store again', async () => {
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

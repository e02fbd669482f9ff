import { expect, test } from 'vitest'
import { memoryQuota } from '../../../src/memory/quota.ts'
import type { QuotaRequest } from '../../../src/ports.ts'
import { allowOnFailure } from '../../../src/quota/allow-on-failure.ts'
import { manualClock } from '../../../src/testing/index.ts'

function failingQuota() {
  const clock = manualClock()
  const store = memoryQuota()
  const state = { clock, isDown: true, calls: 0, failures: 0, spend: () => serve() }
  const spend = allowOnFailure(clock)((request) => {
    state.calls++
    if (state.isDown) return Promise.reject(new Error('down'))
    return store.spend(request)
  })
  const request = (): QuotaRequest => ({
    subject: 'key:a',
    anonymous: false,
    limits: { perMinute: 1, perDay: 1 },
    ban: false,
    now: clock.now(),
  })
  const serve = () => spend(request(), () => void state.failures++)
  return state
}

test('a failing quota store is called once a second', async () => {
  const quota = failingQuota()
  for (let i = 0; i < 10; i++) expect(await quota.spend()).toBeUndefined()
  expect([quota.calls, quota.failures]).toEqual([1, 1])
  quota.clock.advance(1_000)
  for (let i = 0; i < 10; i++) await quota.spend()
  expect([quota.calls, quota.failures]).toEqual([2, 2])
})

test('one second later, only one of several requests calls the failing quota store', async () => {
  const quota = failingQuota()
  await quota.spend()
  quota.clock.advance(1_000)
  await Promise.all([quota.spend(), quota.spend(), quota.spend()])
  expect(quota.calls).toBe(2)
})

test('counts every request as long as the quota store has not failed', async () => {
  const quota = failingQuota()
  quota.isDown = false
  expect(await Promise.all([quota.spend(), quota.spend()])).toMatchObject([{ granted: true }, { granted: false }])
  expect(quota.calls).toBe(2)
})

test('resumes counting after the quota store has recovered', async () => {
  const quota = failingQuota()
  await quota.spend()
  quota.isDown = false
  quota.clock.advance(1_000)
  expect(await quota.spend()).toMatchObject({ granted: true, usedInMinute: 1 })
  expect(await quota.spend()).toMatchObject({ granted: false })
})

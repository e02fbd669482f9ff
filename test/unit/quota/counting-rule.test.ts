import { expect, test } from 'vitest'
import { countRequest, newQuotaState } from '../../../src/quota/counting-rule.ts'

const now = Date.UTC(2026, 5, 1)
const limits = { perMinute: 1, perDay: 10 }

test('a banned key is served after bans are turned off', () => {
  const state = { ...newQuotaState(), bannedUntil: now + 60_000 }
  expect(countRequest(state, { limits, ban: false, now })).toMatchObject({ granted: true, bannedUntil: 0 })
})

test('refusals are not counted while bans are off', () => {
  const state = newQuotaState()
  for (let i = 0; i < 3; i++) countRequest(state, { limits, ban: false, now })
  expect(state).toMatchObject({ usedInMinute: 1, refusedInMinute: 0 })
})

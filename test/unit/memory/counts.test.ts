import fc from 'fast-check'
import { expect, test } from 'vitest'
import { memoryQuota } from '../../../src/memory.ts'
import type { QuotaCount, QuotaRequest } from '../../../src/ports.ts'
import { countRequest, newQuotaState, type QuotaState } from '../../../src/quota/counting-rule.ts'

const limits = { perMinute: 3, perDay: 8 }
const ban = { afterRefusals: 2, seconds: 300 }
const ask = (subject: string, now = 0) => ({ subject, anonymous: false, limits, ban, now })

const counting = (max: number) => {
  const { spend } = memoryQuota(max)
  return (request: QuotaRequest) => spend(request) as QuotaCount
}

test('memoryQuota counts each subject separately, as countRequest does', () => {
  const step = fc.record({ subject: fc.constantFrom('a', 'b', 'c', 'd'), advance: fc.nat(40_000) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
      const count = counting(4)
      const states = new Map<string, QuotaState>()
      let now = 0
      for (const { subject, advance } of steps) {
        now += advance
        const state = states.get(subject) ?? newQuotaState()
        states.set(subject, state)
        expect(count(ask(subject, now))).toEqual(countRequest(state, ask(subject, now)))
      }
    }),
  )
})

test('the counts of a subject that is used often are kept', () => {
  const count = counting(3)
  const used = () => count(ask('regular')).usedInDay
  expect(used()).toBe(1)
  for (let i = 0; i < 2; i++) count(ask(`other ${i}`))
  expect(used()).toBe(2)
  for (let i = 2; i < 4; i++) count(ask(`other ${i}`))
  expect(used()).toBe(3)
})

test('a full memory forgets the counts of the least recently used subjects', () => {
  const count = counting(2)
  const subjects = ['a', 'b', 'c', 'd', 'e']
  for (const subject of [...subjects, ...subjects]) expect(count(ask(subject)).usedInDay).toBe(1)
})

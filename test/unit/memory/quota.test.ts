import { expect, test } from 'vitest'
import { memoryQuota } from '../../../src/memory/quota.ts'
import type { QuotaCount, QuotaRequest } from '../../../src/ports.ts'

const limits = { perMinute: 3, perDay: 8 }
const ban = { afterRefusals: 2, seconds: 300 }
const ask = (subject: string, now = 0) => ({ subject, anonymous: false, limits, ban, now })

const counting = (max: number) => {
  const { spend } = memoryQuota(max)
  return (request: QuotaRequest) => spend(request) as QuotaCount
}

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

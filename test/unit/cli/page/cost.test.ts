import fc from 'fast-check'
import { expect, test } from 'vitest'
import { costOf, costText } from '../../../../adapters/cli/page/browser/cost.ts'
import { createPetStore, memory } from '../../../../src/index.ts'

function response(status: number, limit: number, remaining: number) {
  const headers = { 'X-RateLimit-Limit': limit, 'X-RateLimit-Remaining': remaining, 'x-ratelimit-reset': 60 }
  return { status, responseHeaders: Object.entries(headers).flatMap(([name, value]) => [name, String(value)]) }
}

test.each([
  ['a counted request', '60 → 59 of 60', response(200, 60, 59)],
  ['a refused request', '0 left of 60', response(429, 60, 0)],
  ['a request that is not counted', '60 left of 60', response(503, 60, 60)],
  ['a request with a large limit', '999,986 → 999,985 of 1,000,000', response(200, 1_000_000, 999_985)],
])('for %s, costText returns %j', (_, expected, request) => {
  expect(costText(costOf(request) as never)).toBe(expected)
})

test('costOf returns undefined for a response without rate-limit headers', () => {
  expect(costOf({ status: 500, responseHeaders: ['Content-Type', 'text/plain'] })).toBe(undefined)
})

test('costOf returns a `before` that equals the `after` of the previous request', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), async (perMinute, perDay) => {
      const backEnd = memory()
      const { token } = await backEnd.keyStore.issue({ plan: 'own', limits: { perMinute, perDay } })
      const { fetch } = createPetStore({ ...backEnd, clock: { now: () => 0 } })
      let left: number | undefined
      for (let i = 0; i < 10; i++) {
        const { status, headers } = await fetch('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } })
        const cost = costOf({ status, responseHeaders: [...headers].flat() })
        expect(cost?.before).toBe(left ?? cost?.limit)
        left = cost?.remaining
      }
    }),
    { numRuns: 20 },
  )
})

import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { readRateLimitWindows } from '../../../src/client/rate-limit-fields.ts'

const NOW = Date.UTC(2030, 0, 1)
const POLICY = '"minute";q=60;w=60, "day";q=1000;w=86400'
const LIMIT = '"minute";r=59;t=30, "day";r=999;t=3600'

function read(policy: string | undefined, limit: string | undefined) {
  const headers = new Headers()
  if (policy !== undefined) headers.set('ratelimit-policy', policy)
  if (limit !== undefined) headers.set('ratelimit', limit)
  return readRateLimitWindows(headers, NOW)
}

const minute = { limit: 60, remaining: 59, resetsAt: NOW + 30_000 }
const day = { limit: 1000, remaining: 999, resetsAt: NOW + 3_600_000 }

describe('readRateLimitWindows', () => {
  test.each([
    ['both windows', POLICY, LIMIT],
    ['no spaces', POLICY.replaceAll(' ', ''), LIMIT.replaceAll(' ', '')],
    ['spaces before parameters', POLICY.replaceAll(';', '; '), LIMIT.replaceAll(';', '; ')],
    ['another order', '"day";w=86400;q=1000, "minute";w=60;q=60', '"day";t=3600;r=999, "minute";t=30;r=59'],
    ['other policies', `"hour";q=9;w=3600, ${POLICY}`, `"hour";r=1;t=9, ${LIMIT}`],
    ['other parameters', '"minute";qu="a;q=7, b";q=60;w=60;pk=:cHs=:, "day";q=1000', `"a";r=1, ${LIMIT}`],
    ['parameters without a value', '"minute";a;q=60, "day";q=1000', LIMIT],
  ])('reads %s', (_, policy, limit) => {
    expect(read(policy, limit)).toEqual({ minute, day })
  })

  test.each([
    ['no headers', undefined, undefined],
    ['no policy', undefined, LIMIT],
    ['no limit', POLICY, undefined],
    ['an older draft', '60;w=60', 'limit=60, remaining=59, reset=30'],
    ['no quotes', 'minute;q=60, day;q=1000', LIMIT],
    ['negative numbers', '"minute";q=-1, "day";q=-1', LIMIT],
    ['fractions', POLICY, '"minute";r=1.5;t=30, "day";r=9;t=0.5'],
    ['texts', POLICY, '"minute";r="59";t=30, "day";r=9;t=x'],
    ['numbers that are too long', POLICY, '"minute";r=1234567890123456;t=30, "day";r=9'],
    ['nonsense', '"', ';;;'],
  ])('reads nothing from %s', (_, policy, limit) => {
    expect(read(policy, limit)).toEqual({ minute: undefined, day: undefined })
  })

  test('reads one window without the other', () => {
    expect(read(POLICY, '"minute";r=59;t=30')).toEqual({ minute, day: undefined })
  })

  test('never throws', () => {
    const text = fc.string({
      unit: fc.constantFrom('"', ';', ',', '=', ' ', '\\', 'minute', 'q', 'r', 't', '1'),
      maxLength: 30,
    })
    fc.assert(fc.property(text, text, (policy, limit) => void read(policy, limit)))
  })
})

import { expect, test } from 'vitest'
import { duration, shortened } from '../../../../adapters/cli/page/browser/format.ts'

test.each([
  ['short', 'short'],
  ['x'.repeat(1_000), `${'x'.repeat(60)}…`],
  ['😀'.repeat(61), `${'😀'.repeat(60)}…`],
  ['😀'.repeat(60), '😀'.repeat(60)],
])('shortened(name) keeps at most 60 whole characters (case %#)', (name, expected) => {
  expect(shortened(name)).toBe(expected)
})

test.each([
  [-1, '0:00'],
  [6_001, '0:07'],
  [299_000, '4:59'],
  [77_880_000, '21 h 38 min'],
])('duration(%i) is %s', (milliseconds, expected) => {
  expect(duration(milliseconds)).toBe(expected)
})

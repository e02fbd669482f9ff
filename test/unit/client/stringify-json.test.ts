import { expect, test } from 'vitest'
import { parseJson, stringifyJson } from '../../../src/client/index.ts'

test('writes each bigint as an integer with every digit', () => {
  const value = [{ id: 9223372036854775807n, parents: [-9007199254740993n] }]
  const text = '[{"id":9223372036854775807,"parents":[-9007199254740993]}]'
  expect([stringifyJson(value), parseJson(text)]).toEqual([text, value])
})

test.each([
  [['Zoë "🐕"\u2028\ud800', 1.5, 1e21, Number.NaN, true, null, undefined, () => {}]],
  { a: undefined, b: () => {}, c: new Date(0), d: [], e: {}, __proto__: { x: 1 }, 'f"': 1 },
  'Rex',
  -0,
])('stringifyJson writes %j as JSON.stringify does', (value) => {
  expect(stringifyJson(value)).toBe(JSON.stringify(value))
})

test.each([undefined, () => {}, Symbol('x')])('stringifyJson rejects %s', (value) => {
  expect(() => stringifyJson(value)).toThrow(
    expect.objectContaining({
      code: 'invalid_option',
      message: expect.stringMatching(/^option value: expected a value that JSON can represent, got /),
    }),
  )
})

import { expect, test } from 'vitest'
import { parseJson, stringifyJson } from '../../../src/client/index.ts'

test('parseJson keeps every digit of an int64', () => {
  expect(parseJson('[9007199254740993,9223372036854775807,-9223372036854775808,7.0]')).toEqual([
    9007199254740993n,
    9223372036854775807n,
    -9223372036854775808n,
    7n,
  ])
})

test('parseJson parses fractions and numbers outside int64 as `number`, at every depth', () => {
  expect(parseJson('{"a":1.5,"b":[9223372036854775808,{"c":-1e400}]}')).toEqual({
    a: 1.5,
    b: [2 ** 63, { c: Number.NEGATIVE_INFINITY }],
  })
})

test('parseJson parses bytes as UTF-8', () => {
  expect(parseJson(new TextEncoder().encode('{"name":"Zoë"}'))).toEqual({ name: 'Zoë' })
})

test('parseJson keeps a member named __proto__ as an ordinary member', () => {
  const value = parseJson('{"__proto__":{"x":1}}') as object
  expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  expect('x' in value).toBe(false)
})

test.each(['{', '{"a":1,"a":1}', ''])('parseJson rejects %j with malformed_json', (text) => {
  expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'malformed_json' }))
})

test('parseJson has no limit for the number of values', () => {
  expect(parseJson(`[${'0,'.repeat(10_000)}0]`)).toHaveLength(10_001)
})

test('stringifyJson writes each bigint as an integer with every digit', () => {
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

import fc from 'fast-check'
import { stringify } from 'lossless-json'
import { describe, expect, test } from 'vitest'
import { type Pet, petStatuses } from '../../../src/index.ts'
import { freezeWithJson, parseExactly, parsePlain, readJson, writePets } from '../../../src/pets/json.ts'
import { JsonNumber } from '../../../src/support/describe-value.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const read = (text: string) => readJson(bytes(text))

/** Returns the number of members in a value, also of inner objects. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const inner = Object.values(value).map(membersOf)
  return inner.reduce((sum, count) => sum + count, Array.isArray(value) ? 0 : inner.length)
}

test('both parsers read bodies without long numbers in the same way', () => {
  const scalar = fc.oneof(fc.constantFrom(null, true, 'a', '__proto__', '"', -0), fc.maxSafeInteger())
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof({ maxDepth: 3 }, scalar, fc.array(tie('value')), fc.dictionary(fc.string(), tie('value'))),
  }))
  fc.assert(
    fc.property(value, (value) => {
      const text = JSON.stringify(value)
      const members = membersOf(value)
      const exact = parseExactly(text, members)
      if (!/\d[.eE]|\d{16}/.test(text)) expect([parsePlain(text, members)]).toEqual([exact])
      expect(read(text)).toEqual(exact)
    }),
  )
})

test.each(['1.5', '[1e2]', '{"a":-1E3}', '{"a":9007199254740993}', '[', '{"a":1,"a":1}'])(
  'the fast parser leaves %s to the exact parser',
  (text) => expect(parsePlain(text, 2)).toBeUndefined(),
)

test('an int64 becomes a bigint, and any other number stays text', () => {
  const expected = [7n, 7n, 7n, -70n, 0n, 0n, new JsonNumber('7.5'), new JsonNumber('1e19'), new JsonNumber('-1e-1')]
  expect(read('[7, 7.0, 70e-1, -0.7E+2, 0e9, -0.0, 7.5, 1e19, -1e-1]')).toEqual(expected)
})

const long = 'a'.repeat(300)

test.each([
  [bytes(`${'['.repeat(257)}${']'.repeat(257)}`), 'expected at most 256 levels of nesting, got 257'],
  [bytes(`[${'0,'.repeat(2_000)}0]`), 'expected a body of at most 2000 JSON values, got 2001'],
  [bytes(`[${'[]'.repeat(2_000)}]`), 'expected a body of at most 2000 JSON values, got 2001'],
  [bytes('{"a":1,"b":{"c":2,"c":2}}'), 'expected each member name once in its object, got a repeated name'],
  [new Uint8Array([0x22, 0xff, 0x22]), 'expected UTF-8, got other bytes'],
  [bytes(`{"${long}":1,"${long}":2}`), `Duplicate key '${'a'.repeat(185)}…`],
])('the message says why a body is malformed (case %#)', (body, why) => {
  const message = `The body cannot be read as JSON: ${why}.`
  expect(() => readJson(body, 2_000)).toThrow(expect.objectContaining({ code: 'malformed_json', message }))
})

describe('writing animals', () => {
  const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
  const integer = fc.oneof(int64, fc.bigInt({ min: -100n, max: 100n }), fc.maxSafeInteger(), fc.constant(-0))
  const name = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('"', '\\', '\n', '\u007f', '\ud800'),
  )
  const status = fc.constantFrom(...petStatuses)
  const animal = fc.record({ id: integer, name, categoryId: integer, status, other: fc.anything() })

  test('writes animals as JSON.stringify would, with all digits', () => {
    fc.assert(
      fc.property(fc.array(animal), (animals) => {
        const known = animals.map(({ id, name, categoryId, status }) => ({ id, name, categoryId, status }))
        expect(writePets(animals as Pet[])).toBe(stringify(known))
      }),
    )
  })
})

describe('an animal that keeps its JSON', () => {
  const pet = (): Pet => ({ id: 7n, name: 'Rex', categoryId: 1n, status: 'sold' })

  test('is written like any other, also again', () => {
    const kept = freezeWithJson(pet())
    for (const page of [[kept], [kept, pet()], [pet(), kept, kept]])
      expect(writePets(page)).toBe(writePets(page.map(pet)))
  })

  test('is a plain frozen object without further enumerable members', () => {
    const kept = freezeWithJson(pet())
    writePets([kept])
    expect(kept).toStrictEqual(pet())
    expect([Object.isFrozen(kept), Object.keys(kept)]).toEqual([true, Object.keys(pet())])
    expect(JSON.stringify({ ...kept, id: 7, categoryId: 1 })).toBe(
      '{"id":7,"name":"Rex","categoryId":1,"status":"sold"}',
    )
  })

  test('does not pass its JSON on to a copy', () => {
    const kept = freezeWithJson(pet())
    writePets([kept])
    expect(writePets([{ ...kept, name: 'Ada' }])).toContain('Ada')
  })
})

test('the error about a wrong animal of the storage names its values', () => {
  const wrong = { id: 1n, name: 7, categoryId: 2n } as unknown as Pet
  const expected =
    'storage: expected an animal with id, name, categoryId and status, got the number 1, the number 7, the number 2, nothing'
  expect(() => writePets([wrong])).toThrow(new TypeError(expected))
})

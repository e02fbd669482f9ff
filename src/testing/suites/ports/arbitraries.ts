import type { Arbitrary } from 'fast-check'
import { INT64_MAX, INT64_MIN, isInt64, type NewPet, petStatuses } from '../../../model.ts'
import { petName } from '../../../schemas/pet.ts'
import type { FastCheck } from './runner.ts'

export const REX = { name: 'Rex', categoryId: 1n } as const
export const SOLD = { ...REX, status: 'sold' } as const

/** Names that some databases, drivers or encodings would change. */
const HARD_TEXTS = [
  ['Rex', '🐕‍🦺', '𝕽𝖊𝖝', 'כלב‏', '\u202eRex', 'é', 'e\u0301', 'Ａ', '\uffff', '\u{10ffff}'],
  ["O'Hara", '"; DROP TABLE pets; --', '\\', '\\u0000', '$1', '?', '%s', '{}', 'null', '0', '1e999'],
  [' Rex ', 'Rex\n', 'Rex\r\n\tRex', '\u0001', '\u007f', '\u2028', '\ufeffRex'],
].flat()

/**
 * Generates texts of 1 to 16,000 characters. Every character is possible except U+0000 and lone
 * surrogates.
 */
export function texts(fc: FastCheck): Arbitrary<string> {
  // The unit `binary` of fast-check is slow: in every test file, it first builds a list of all
  // characters.
  const unit = fc
    .oneof(fc.integer({ min: 1, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
    .map((code) => String.fromCodePoint(code))
  const anything = fc.string({ unit, minLength: 1 })
  const long = fc
    .tuple(fc.constantFrom('x', '🐈', "'", 'ß'), fc.integer({ min: 1_000, max: 16_000 }))
    .map(([character, length]) => character.repeat(length))
  const short = fc.oneof(fc.constantFrom(...HARD_TEXTS), anything)
  return fc.oneof({ arbitrary: short, weight: 10 }, long)
}

/**
 * Generates int64 values, often near a bound of int64, of int32 or of JavaScript's safe integers.
 */
export function int64s(fc: FastCheck): Arbitrary<bigint> {
  const edges = [INT64_MIN, -(2n ** 53n), 0n, 2n ** 31n, 2n ** 53n, INT64_MAX]
  const near = edges.flatMap((edge) => [edge - 1n, edge, edge + 1n]).filter(isInt64)
  return fc.oneof(fc.constantFrom(...near), fc.bigInt({ min: INT64_MIN, max: INT64_MAX }))
}

const anyName = petName(Number.POSITIVE_INFINITY)

export function newPets(fc: FastCheck): Arbitrary<NewPet> {
  return fc.record(
    {
      name: texts(fc).filter((text) => anyName.safeParse(text).success),
      categoryId: int64s(fc),
      status: fc.constantFrom(...petStatuses),
    } satisfies Record<keyof NewPet, Arbitrary<unknown>>,
    { requiredKeys: ['name', 'categoryId'] },
  )
}

import type { Arbitrary } from 'fast-check'
import { INT64_MAX, INT64_MIN, isInt64, type PetChanges, type PetMembers, petStatuses } from '../../../model.ts'
import { petName } from '../../../schemas/pet.ts'
import type { FastCheck } from './suite.ts'

export const REX = { name: 'Rex', categoryId: 1n, status: 'available' } as const
export const SOLD = { ...REX, status: 'sold' } as const
export const INT64S = [INT64_MIN, -(2n ** 53n) - 1n, -1n, 0n, 2n ** 31n, 2n ** 53n + 1n, INT64_MAX]

/** Texts that some databases, drivers or encodings would change. */
export const HARD_TEXTS = [
  ['Zoë', 'Zoe\u0308', '🐕‍🦺', '𝕽𝖊𝖝', '\u202eRex', 'Ａ', '\uffff', '\u{10ffff}', '\u2028', '\ufeffRex'],
  ["O'Hara", '"; DROP TABLE pets; --', '\\', '\\u0000', '$1', '?', '%s', '{}', 'null', '0', '1e999'],
  [' Rex ', 'Rex\r\n\tRex', '\u0001', '\u007f', 'x'.repeat(16_000), '🐈'.repeat(16_000)],
].flat()

/** Generates texts without U+0000 and lone surrogates. */
export function texts(fc: FastCheck): Arbitrary<string> {
  const unit = fc.oneof(fc.integer({ min: 1, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  const anything = fc.string({ unit: unit.map((code) => String.fromCodePoint(code)), minLength: 1 })
  return fc.oneof(fc.constantFrom('Rex', ...HARD_TEXTS), anything)
}

const anyName = petName(Number.POSITIVE_INFINITY)

/** Generates valid values of each member. */
export function memberValues(fc: FastCheck) {
  const near = INT64S.flatMap((edge) => [edge - 1n, edge, edge + 1n]).filter(isInt64)
  return {
    name: texts(fc).filter((text) => anyName.safeParse(text).success),
    categoryId: fc.oneof(fc.constantFrom(...near), fc.bigInt({ min: INT64_MIN, max: INT64_MAX })),
    status: fc.constantFrom(...petStatuses),
  }
}

export function newPets(fc: FastCheck): Arbitrary<PetMembers> {
  return fc.record(memberValues(fc))
}

/** Generates new values for at least one member. The others are absent or `undefined`. */
export function petChanges(fc: FastCheck): Arbitrary<PetChanges> {
  const { name, categoryId, status } = memberValues(fc)
  const orNothing = <Value>(values: Arbitrary<Value>) => fc.option(values, { nil: undefined })
  const several = { name: orNothing(name), categoryId: orNothing(categoryId), status: orNothing(status) }
  const changes = fc.record(several, { requiredKeys: [] })
  return fc.oneof(
    fc.record({ status }),
    changes.filter((each) => Object.values(each).some((value) => value !== undefined)),
  )
}

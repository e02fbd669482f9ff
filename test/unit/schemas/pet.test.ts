import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { describe, expect, expectTypeOf, test } from 'vitest'
import type * as z from 'zod/mini'
import {
  createPetStore,
  type IssueOptions,
  type KeyChanges,
  type NewPet,
  type Pet,
  type PetQuery,
  type PetStatus,
  type PetStoreOptions,
  type PlanLimits,
  petStatuses,
} from '../../../src/index.ts'
import { openApiDocument } from '../../../src/openapi/index.ts'
import type { storeShape } from '../../../src/options.ts'
import type { issueOptions, keyChanges } from '../../../src/schemas/key.ts'
import type { limits } from '../../../src/schemas/limits.ts'
import { newPet, pet, type petStatus } from '../../../src/schemas/pet.ts'
import type { petQuery } from '../../../src/schemas/query.ts'

type Plain<T> = { -readonly [Name in keyof T]: T[Name] }
type Members<Shape> = { [Name in keyof Shape]-?: Shape[Name] extends z.ZodMiniType<infer Output> ? Output : never }

test('the type of each schema equals its interface', () => {
  expectTypeOf<z.infer<ReturnType<typeof newPet>>>().toExtend<NewPet>()
  expectTypeOf<keyof z.infer<ReturnType<typeof newPet>>>().toEqualTypeOf<keyof NewPet>()
  expectTypeOf<Plain<Pick<z.infer<typeof pet>, keyof Pet>>>().toEqualTypeOf<Plain<Pet>>()
  expectTypeOf<z.infer<ReturnType<typeof petStatus>>>().toEqualTypeOf<PetStatus>()
  expectTypeOf<z.infer<typeof petQuery>>().toEqualTypeOf<PetQuery>()
  expectTypeOf<z.infer<typeof limits>>().toEqualTypeOf<PlanLimits>()
  expectTypeOf<z.infer<typeof issueOptions>>().toEqualTypeOf<IssueOptions>()
  expectTypeOf<z.infer<typeof keyChanges>>().toEqualTypeOf<KeyChanges>()
  type StoreMembers = Members<typeof storeShape>
  expectTypeOf<keyof StoreMembers>().toEqualTypeOf<keyof PetStoreOptions>()
  expectTypeOf<StoreMembers['sunset']>().toEqualTypeOf<PetStoreOptions['sunset']>()
  expectTypeOf<StoreMembers['defaultStatus']>().toEqualTypeOf<PetStoreOptions['defaultStatus']>()
})

describe('the OpenAPI document', () => {
  const { schemas } = openApiDocument(createPetStore({ maxNameLength: 5 })).components
  const isInt64 = (value: number) => BigInt.asIntN(64, BigInt(value)) === BigInt(value)
  const int64 = { type: 'number' as const, validate: isInt64 }
  const ajv = new Ajv2020({ strict: false, formats: { int64 } })
  ajv.addSchema({ $id: 'root', components: { schemas } })
  const accepts = (name: string, value: unknown) => ajv.validate({ $ref: `root#/components/schemas/${name}` }, value)

  const maybe = (valid: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: valid }, fc.jsonValue())
  const name = fc.string({ unit: fc.constantFrom('a', ' ', '\x85', '\0', '\u{1f600}'), maxLength: 7 })
  const integer = fc.integer()
  const status = fc.constantFrom(...petStatuses, 'lost')
  const members = { name: maybe(name), categoryId: maybe(integer), status: maybe(status) }
  /** In the document, integers are JSON numbers. Programs have a `bigint` for each. */
  const exact = (value: object) =>
    Object.fromEntries(
      Object.entries(value).map(([member, inner]) => [member, Number.isInteger(inner) ? BigInt(inner) : inner]),
    )

  test('accepts exactly the animals to add that the service accepts', () => {
    const schema = newPet({ maxNameLength: 5 })
    fc.assert(
      fc.property(fc.record(members, { requiredKeys: [] }), (value) => {
        expect(accepts('PetToAdd', value)).toBe(schema.safeParse(exact(value)).success)
      }),
      { numRuns: 2_000 },
    )
  })

  test('accepts exactly the animals that the client accepts', () => {
    fc.assert(
      fc.property(fc.record({ id: maybe(integer), ...members }, { requiredKeys: ['name'] }), (value) => {
        expect(accepts('Pet', value)).toBe(pet.safeParse(exact(value)).success)
      }),
      { numRuns: 2_000 },
    )
  })
})

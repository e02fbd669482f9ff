import * as z from 'zod'
import { optional, type ZodMiniLiteral, type ZodMiniObject, type ZodMiniPipe } from 'zod/mini'
import { petStatuses } from '../model.ts'
import { errorBody } from './error.ts'
import { oneOf, optionsOf, positiveInteger } from './options.ts'
import { parseOptions } from './parse-options.ts'
import { expectingPets, type NewPetRules, newPet, pet, petStatus } from './pet.ts'
import { petId, petQuery } from './query.ts'

export type { NewPet, Pet, PetMembers, PetStatus } from '../model.ts'
export type { PetQuery } from '../ports.ts'
export type { NewPetRules } from './pet.ts'

/** The classes of zod for the kinds of schemas below. */
const classes = { object: z.ZodObject, literal: z.ZodLiteral, pipe: z.ZodPipe }

type WithMethods<Schema> =
  Schema extends ZodMiniObject<infer Members, infer Config>
    ? z.ZodObject<Members, Config>
    : Schema extends ZodMiniLiteral<infer Value>
      ? z.ZodLiteral<Value>
      : Schema extends ZodMiniPipe<infer Input, infer Output>
        ? z.ZodPipe<Input, Output>
        : never

/**
 * Returns a schema of zod/mini, which the core uses, as one of zod with its methods, such as
 * `extend`, `pick` and `optional`.
 */
function withMethods<Schema extends ZodMiniObject | ZodMiniLiteral | ZodMiniPipe>({ def }: Schema) {
  const Class: new (definition: never) => unknown = classes[def.type]
  return new Class(def as never) as WithMethods<Schema>
}

/**
 * An animal to add, with the default rules of `createPetStore`. Other members are removed.
 * @example
 * ```ts
 * import { newPetSchema } from 'petstore-kit/schemas'
 * import * as z from 'zod'
 *
 * const order = z.object({ pet: newPetSchema, amount: z.int() })
 * console.log(order.safeParse({ pet: { name: '', categoryId: 1n }, amount: 1 }).error?.issues[0]?.path) // [ 'pet', 'name' ]
 * ```
 */
export const newPetSchema = withMethods(newPet())

/** An animal, as the service returns it. */
export const petSchema = withMethods(pet)

/** A page of animals, as the service returns it. */
export const petsSchema = z.array(petSchema, expectingPets)

/** The status of an animal. */
export const petStatusSchema = withMethods(petStatus())

/** The id of an animal in a path, such as `7`. The result is a `bigint`. */
export const petIdSchema = withMethods(petId)

/** The query of a list, as texts. The result is what `petStore.pets.list` takes. */
export const petQuerySchema = withMethods(petQuery)

/** The body of an error response. */
export const errorSchema = withMethods(errorBody)

const newPetRules = optionsOf<NewPetRules>({
  maxNameLength: optional(positiveInteger),
  defaultStatus: optional(oneOf(...petStatuses)),
})

/**
 * Returns the schema of an animal to add, with the rules of a store whose options differ from the
 * defaults.
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { createNewPetSchema } from 'petstore-kit/schemas'
 *
 * const schema = createNewPetSchema({ maxNameLength: 20, defaultStatus: 'pending' })
 * console.log(schema.parse({ name: 'Rex', categoryId: 1n }).status) // pending
 * ```
 */
export function createNewPetSchema(rules: NewPetRules = {}): typeof newPetSchema {
  return withMethods(newPet(parseOptions(newPetRules, rules)))
}

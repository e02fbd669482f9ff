import * as z from 'zod'
import { optional, type ZodMiniObject } from 'zod/mini'
import { petStatuses } from '../model.ts'
import { errorBody } from './error.ts'
import { oneOf, optionsOf, positiveInteger } from './options.ts'
import { parseOptions } from './parse-options.ts'
import { expectingPets, type NewPetRules, newPet, pet, petStatus } from './pet.ts'
import { petId, petQuery } from './query.ts'

export type { NewPet, Pet, PetMembers, PetStatus } from '../model.ts'
export type { PetQuery } from '../ports.ts'
export type { NewPetRules } from './pet.ts'

/**
 * Returns an object schema of zod/mini, which the core uses, as one of zod with its methods, such
 * as `extend` and `pick`.
 */
function withMethods<Shape extends z.core.$ZodShape, Config extends z.core.$ZodObjectConfig>({
  def,
}: ZodMiniObject<Shape, Config>): z.ZodObject<Shape, Config> {
  return new z.ZodObject(def) as unknown as z.ZodObject<Shape, Config>
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
export const petStatusSchema = petStatus()

/** The id of an animal in a path, such as `7`. The result is a `bigint`. */
export const petIdSchema = petId

/** The query of a list, as texts. The result is what `petStore.pets.list` takes. */
export const petQuerySchema = petQuery

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

import * as z from 'zod/mini'
import { type NewPet, type Pet, type PetMembers, type PetStatus, petStatuses } from '../model.ts'
import type { PetQuery } from '../ports.ts'
import { errorBody } from './error.ts'
import { oneOf, optionsOf, positiveInteger } from './options.ts'
import { parseOptions } from './parse-options.ts'
import { type NewPetRules, newPet, pet, petStatus, pets } from './pet.ts'
import { petId, petQuery } from './query.ts'

export type { NewPet, Pet, PetMembers, PetStatus } from '../model.ts'
export type { PetQuery } from '../ports.ts'

/**
 * A schema that many libraries for forms, routes and remote calls accept:
 * https://standardschema.dev, version 1. The types are those of its specification.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  /** The validator and its types. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    /** Checks a value. The schemas of this package return a result, never a promise. */
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** The result of {@link StandardSchema}: the value, or what is wrong with it. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] }

/** One problem of a value or of one of its members. */
export interface SchemaIssue {
  /** A sentence with the expected and the received value. */
  readonly message: string
  /** The names of the members that lead to the wrong one. */
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

export type { NewPetRules } from './pet.ts'

/** The body of an error response. */
export interface ErrorBody {
  /** The kind of error, for programs. */
  readonly code: string
  /** The description of the error, for people. */
  readonly message: string
  /** The HTTP status. */
  readonly status: number
}

/**
 * The query of a list: the texts of `limit`, `status` and `cursor`. The result is what
 * `storage.list` takes. Other parameters are ignored.
 */
export interface PetQueryInput {
  /** A whole number from 1 to 100. @default '20' */
  readonly limit?: string | undefined
  /** Only animals with this status. */
  readonly status?: string | undefined
  /** The cursor of the page before. */
  readonly cursor?: string | undefined
}

/**
 * An animal to add, with the default rules of `createPetStore`. Other members are removed.
 * @example
 * ```ts
 * import { newPetSchema } from 'petstore-kit/schemas'
 *
 * const result = await newPetSchema['~standard'].validate({ name: '', categoryId: 1n })
 * console.log(result.issues?.[0]?.path) // [ 'name' ]
 * ```
 */
export const newPetSchema: StandardSchema<NewPet, PetMembers> = newPet()

/** An animal, as the service returns it. */
export const petSchema: StandardSchema<Pet> = pet

/** A page of animals, as the service returns it. */
export const petsSchema: StandardSchema<Pet[]> = pets

/** The status of an animal. */
export const petStatusSchema: StandardSchema<PetStatus> = petStatus()

/** The id of an animal in a path, such as `7`. The result is a `bigint`. */
export const petIdSchema: StandardSchema<string, bigint> = petId

/** The query of a list, as texts. The result is what `storage.list` takes. */
export const petQuerySchema: StandardSchema<PetQueryInput, PetQuery> = petQuery

/** The body of an error response. */
export const errorSchema: StandardSchema<ErrorBody> = errorBody

const newPetRules = optionsOf<NewPetRules>({
  maxNameLength: z.optional(positiveInteger),
  defaultStatus: z.optional(oneOf(...petStatuses)),
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
 * const result = await schema['~standard'].validate({ name: 'Rex', categoryId: 1n })
 * console.log('value' in result && result.value.status) // pending
 * ```
 */
export function createNewPetSchema(rules: NewPetRules = {}): StandardSchema<NewPet, PetMembers> {
  return newPet(parseOptions(newPetRules, rules))
}

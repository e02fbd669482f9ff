import * as z from 'zod/mini'
import { type Pet, type PetMembers, type PetStatus, petStatuses } from '../model.ts'
import { expecting, type Shape } from './expected.ts'
import { hostInt64, int64 } from './int64.ts'
import { listOf, optionsOf } from './options.ts'
import { hasAtMost, isStorable } from './text.ts'

/**
 * Matches text with a character that is not white space, and without U+0000, which some databases
 * cannot store. `\s` lacks `\x85`, which Unicode calls white space. The pattern has no `\u`
 * escapes: it is in the OpenAPI document, and Go does not support them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes U+0000
export const NAME = /^[\s\x85]*[^\s\x85\x00][^\x00]*$/

export const DEFAULT_MAX_NAME_LENGTH = 1_000
/** The status of a new animal, by default of `createPetStore`. */
export const DEFAULT_STATUS: PetStatus = 'available'

/** @param maxLength - in characters (Unicode code points) */
export function petName(maxLength: number) {
  const expected = expecting(
    `a string of at most ${maxLength} characters, at least one of them not white space, without U+0000 and lone surrogates`,
  )
  const check = z.refine<string>((name) => hasAtMost(name, maxLength) && NAME.test(name) && isStorable(name), expected)
  // `z.toJSONSchema` reads `maxLength` and `pattern` from here.
  check._zod.onattach.push(({ _zod: { bag } }) => {
    bag.maximum = maxLength
    bag.patterns = new Set([NAME])
  })
  return z.string(expected).check(check)
}

export function petStatus(expectingText = expecting) {
  return z.literal([...petStatuses], expectingText(`one of ${petStatuses.join(', ')}`))
}

/** The rules of an animal to add that a store may change. */
export interface NewPetRules {
  /** The longest name, in characters (Unicode code points). @default 1000 */
  readonly maxNameLength?: number | undefined
  /** The status of an animal without one. @default 'available' */
  readonly defaultStatus?: PetStatus | undefined
}

/** Returns the schema of an animal to add. Other members are ignored. */
export function newPet({ maxNameLength = DEFAULT_MAX_NAME_LENGTH, defaultStatus = DEFAULT_STATUS }: NewPetRules = {}) {
  const shape = {
    name: petName(maxNameLength),
    categoryId: int64(),
    status: z._default(petStatus(), defaultStatus),
  } satisfies Shape<PetMembers>
  return z.object(shape, expecting('an object with name and categoryId'))
}

/** An animal as a host writes it. A number is exact up to 2^53-1; a greater int64 has to be a `bigint`. */
export interface PetInput {
  /** The name: at least one character is not white space. */
  readonly name: string
  /** The id of the category, an int64. */
  readonly categoryId: bigint | number
  /** The availability. @default the option `defaultStatus` of the store */
  readonly status?: PetStatus | undefined
}

/** An animal that a store has from the start. */
export interface InitialPet extends PetInput {
  /** The id: at least 1. @default the next one, after all ids that are given */
  readonly id?: bigint | number | undefined
}

export type ParsedInitialPet = PetMembers & Partial<Pick<Pet, 'id'>>

/** A list of animals that a store has from the start, by the default rules of a new animal. */
export const initialPets = petsWithIds(
  optionsOf<ParsedInitialPet>(
    { ...hostMembers(), id: z.optional(hostInt64(1n)) },
    { expected: 'an animal with name and categoryId, perhaps with id and status' },
  ),
)

/** Returns the members of an animal to add, as a host writes them. */
export function hostMembers(rules?: NewPetRules) {
  return { ...newPet(rules).shape, categoryId: hostInt64() }
}

/** Returns the schema of a list of animals in which no id occurs twice. */
export function petsWithIds<T extends Partial<Pick<Pet, 'id'>>>(item: z.ZodMiniType<T>) {
  return listOf(item, 'an array of animals').check(({ value: pets, issues }) => {
    const ids = new Set<bigint>()
    for (const [i, { id }] of pets.entries()) {
      if (id !== undefined && ids.has(id))
        issues.push({ code: 'custom', path: [i, 'id'], input: id, message: ofUniqueId.error({ input: id }) })
      if (id !== undefined) ids.add(id)
    }
  })
}

const ofUniqueId = expecting('an id that no other animal of the list has')

export type NewPetSchema = ReturnType<typeof newPet>

/** An animal with its id. Keeps other members: a later version of the service may add some. */
export const pet = z.looseObject(
  {
    id: int64(),
    name: z.string(expecting('a string')),
    categoryId: int64(),
    status: petStatus(),
  } satisfies Shape<Pet>,
  expecting('an animal with id, name, categoryId and status'),
)

export const expectingPets = expecting('an array of animals')
export const pets = z.array(pet, expectingPets)

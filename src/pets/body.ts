import { PetStoreError } from '../errors.ts'
import type { NewPet, PetMembers } from '../model.ts'
import { problemText } from '../schemas/expected.ts'
import type { NewPetSchema } from '../schemas/pet.ts'
import { JsonNumber } from '../support/describe-value.ts'
import { readJson } from './json.ts'

/**
 * The largest number of values in a body, counting those in inner arrays and objects. Reading many
 * short values takes long.
 */
const MAX_VALUES = 2_000

/** The animal in a body. */
export interface ParsedBody {
  readonly pet: PetMembers
  /** The animal as the client has sent it: without the default of `status`. */
  readonly asSent: NewPet
}

/**
 * Returns the animal in the body of createPet.
 * @throws {PetStoreError} `malformed_json` or `invalid_body`
 */
export function parseBody(bytes: Uint8Array, schema: NewPetSchema): ParsedBody {
  const value = readJson(bytes, MAX_VALUES)
  const pet = parseNewPet(schema, value)
  return { pet, asSent: Object.hasOwn(value as object, 'status') ? pet : { ...pet, status: undefined } }
}

const memberNames = Object.keys({ name: true, categoryId: true, status: true } satisfies Record<keyof NewPet, true>)

/**
 * Checks a value of {@link readJson}.
 * @throws {PetStoreError} `invalid_body`, with each wrong field, what was expected and what was
 * received
 */
export function parseNewPet(schema: NewPetSchema, value: unknown): PetMembers {
  const parsed = schema.safeParse(checkable(value))
  if (parsed.success) return parsed.data
  throw new PetStoreError('invalid_body', `The body is not a valid animal: ${problemText(parsed.error)}.`)
}

function checkable(value: unknown): unknown {
  // Zod would take this object for an animal without members.
  if (value instanceof JsonNumber) return Number(value.text)
  if (typeof value !== 'object' || value === null) return value
  // A polluted `Object.prototype` would add members to every body.
  const isPolluted = memberNames.some((name) => name in value && !Object.hasOwn(value, name))
  return isPolluted ? { __proto__: null, ...value } : value
}

import { PetStoreError } from '../errors.ts'
import type { NewPet } from '../model.ts'
import { problemText } from '../schemas/expected.ts'
import type { newPet } from '../schemas/pet.ts'
import { JsonNumber } from '../support/json-number.ts'

/** @throws {PetStoreError} `invalid_body`, with each wrong field, what was expected and what was received */
export function parseNewPet(schema: ReturnType<typeof newPet>, body: unknown): NewPet {
  const parsed = schema.safeParse(ownMembers(body))
  if (parsed.success) return parsed.data
  throw new PetStoreError('invalid_body', `The body is not a valid animal: ${problemText(parsed.error)}.`)
}

/** Copies an object without its prototype: otherwise, a polluted `Object.prototype` would add members to every body. */
function ownMembers(body: unknown): unknown {
  if (body instanceof JsonNumber) return Number(body.text)
  const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body)
  return isRecord ? { __proto__: null, ...body } : body
}

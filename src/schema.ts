import * as z from 'zod/mini'
import { describe, JsonNumber } from './describe.ts'
import { PetStoreError } from './errors.ts'
import { type NewPet, type PetStatus, petStatuses } from './model.ts'

/** Whether a text is a name: not blank, and such that every back end can keep it as it is. */
export function isName(text: string): boolean {
  return /[^\s\u0085]/.test(text) && !text.includes('\u0000') && text.isWellFormed()
}

const petName = z.string().check(({ value, issues }) => {
  if (!isName(value)) issues.push({ code: 'custom', input: value })
})

/** Absent, or one of the values. In zod's own words, an optional enum, it would be 2 % of the whole core. */
const petStatus = z.unknown().check(({ value, issues }) => {
  if (value !== undefined && !petStatuses.includes(value as PetStatus)) issues.push({ code: 'custom', input: value })
})

/** The members of the body of createPet. Numbers of the text that are no int64 do not come as `bigint`. */
const newPet = { name: petName, categoryId: z.bigint(), status: petStatus }

const expected: Record<keyof NewPet, string> = {
  name: 'a string with a character that is not white space, without U+0000 and lone surrogates',
  categoryId: 'an integer from -2^63 to 2^63-1',
  status: `one of ${petStatuses.join(', ')}`,
}

/**
 * Checks a body that was read as JSON. Only members that the body itself has are looked at, and none in a prototype.
 *
 * @throws {PetStoreError} `invalid_body`, naming every field that is wrong, what was expected and what came
 */
export function parseNewPet(body: unknown): NewPet {
  if (typeof body !== 'object' || body === null || Array.isArray(body) || body instanceof JsonNumber) {
    throw invalidBody([`expected an object with name and categoryId, got ${describe(body)}`])
  }
  const problems: string[] = []
  const read = (field: keyof NewPet): unknown => {
    const value = Object.hasOwn(body, field) ? (body as Partial<NewPet>)[field] : undefined
    if (!newPet[field].safeParse(value).success)
      problems.push(`${field}: expected ${expected[field]}, got ${describe(value)}`)
    return value
  }
  const name = read('name') as string
  const categoryId = read('categoryId') as bigint
  const status = read('status')
  if (problems.length > 0) throw invalidBody(problems)
  // The status in this module's own text: whoever keeps the animal keeps no text of the body for it.
  return { name, categoryId, status: petStatuses.find((known) => known === status) }
}

function invalidBody(problems: readonly string[]): PetStoreError {
  return new PetStoreError('invalid_body', `The body is not a valid animal: ${problems.join('; ')}.`)
}

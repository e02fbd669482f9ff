import * as z from 'zod/mini'
import { PetStoreError } from '../errors.ts'
import { type NewPet, type PetStatus, petStatuses } from '../model.ts'
import { describe, JsonNumber } from '../support/describe-value.ts'

/** Whether a value is a name: a text that is not blank, and such that every back end can keep it as it is. */
export function isName(value: unknown): boolean {
  return typeof value === 'string' && /[^\s\u0085]/.test(value) && !value.includes('\u0000') && value.isWellFormed()
}

/** Absent, or one of the values. */
function isStatus(value: unknown): boolean {
  return value === undefined || petStatuses.includes(value as PetStatus)
}

/** What a function can tell. In zod's own words, a string, an integer and an optional enum, it would be 4 % of the whole core. */
const checked = (isValid: (value: unknown) => boolean) =>
  z.unknown().check(({ value, issues }) => {
    if (!isValid(value)) issues.push({ code: 'custom', input: value })
  })

/** The members of the body of createPet. Numbers of the text that are no int64 do not come as `bigint`. */
const newPet = {
  name: checked(isName),
  categoryId: checked((value) => typeof value === 'bigint'),
  status: checked(isStatus),
}

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

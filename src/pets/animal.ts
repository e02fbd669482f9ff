import * as z from 'zod/mini'
import { PetStoreError } from '../errors.ts'
import { isInt64, isPetStatus, type NewPet, type Pet, petStatuses } from '../model.ts'
import { describeJson, JsonNumber } from './json/read.ts'

// The message of each schema says what is expected; `problemsOf` adds the field and what was received.

/**
 * Matches text with a character that is not white space, and without U+0000, which some databases cannot store. `\s` lacks `\x85`,
 * which Unicode calls white space. The pattern has no `\u` escapes: it is in the OpenAPI document, and Go does not support them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern excludes U+0000
export const NAME = /^[\s\x85]*[^\s\x85\x00][^\x00]*$/

/** Returns whether a text may be a name. Some databases cannot store lone surrogates. */
export function isName(text: string, maxLength: number): boolean {
  return text.length <= maxLength && NAME.test(text) && text.isWellFormed()
}

function nameSchema(maxLength: number) {
  const error = `a string of at most ${maxLength} characters, one of them not white space, without U+0000 and lone surrogates`
  return z.string(error).check(
    z.refine((text) => isName(text, maxLength), error),
    // Adds the rules to the OpenAPI document of the control API, because zod cannot read them from the function above.
    z.meta({ maxLength, pattern: NAME.source }),
  )
}

const INT64 = 'an integer from -2^63 to 2^63-1'
const int64Schema = z.bigint(INT64).check(z.refine(isInt64, INT64))
export const statusSchema = z.enum(petStatuses, `one of ${petStatuses.join(', ')}`)

export function newPetSchema(maxNameLength: number) {
  return z.object(
    {
      name: nameSchema(maxNameLength),
      categoryId: int64Schema,
      status: z.optional(statusSchema),
    } satisfies Record<keyof NewPet, z.ZodMiniType>,
    'an object with name and categoryId',
  )
}

export const petSchema = z.object({
  id: int64Schema,
  name: z.string(),
  categoryId: int64Schema,
  status: z.optional(statusSchema),
} satisfies Record<keyof Pet, z.ZodMiniType>)

/** @throws {PetStoreError} `invalid_body`, with each wrong field, what was expected and what was received */
export function parseNewPet(schema: ReturnType<typeof newPetSchema>, body: unknown, maxNameLength: number): NewPet {
  // zod treats an array as an object, so pass `null` for everything that is not a plain object.
  const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof JsonNumber)
  const members = isRecord ? membersOf(body) : null
  // Most bodies are valid, and `isNewPet` takes a tenth of the time of zod.
  if (members && isNewPet(members, maxNameLength)) return members
  const error = schema.safeParse(members).error as z.core.$ZodError
  throw new PetStoreError('invalid_body', `The body is not a valid animal: ${problemsOf(error, body)}.`)
}

type Members = Partial<Record<keyof NewPet, unknown>>

/** Returns the members of an animal. Reads nothing from the prototype, which a member `__proto__` of a body may have replaced. */
function membersOf(body: object): Members {
  return {
    name: ownValue(body, 'name'),
    categoryId: ownValue(body, 'categoryId'),
    status: ownValue(body, 'status'),
  } satisfies Record<keyof NewPet, unknown>
}

/** Checks the rules of {@link newPetSchema}. */
function isNewPet(members: Members, maxNameLength: number): members is NewPet {
  const { name, categoryId, status } = members
  return (
    typeof name === 'string' &&
    isName(name, maxNameLength) &&
    typeof categoryId === 'bigint' &&
    isInt64(categoryId) &&
    (status === undefined || isPetStatus(status))
  )
}

function ownValue(body: object, name: PropertyKey): unknown {
  return Object.hasOwn(body, name) ? (body as Record<PropertyKey, unknown>)[name] : undefined
}

/** Returns one problem for each wrong field, as text: `limit: expected …, got …`. */
export function problemsOf({ issues }: z.core.$ZodError, input: unknown, describeInput = describeJson): string {
  const problems = new Map<string, string>()
  for (const { path, message } of issues) {
    const [field] = path
    const value = field === undefined ? input : ownValue(input as object, field)
    const problem = `expected ${message}, got ${describeInput(value)}`
    problems.set(String(field), field === undefined ? problem : `${String(field)}: ${problem}`)
  }
  return [...problems.values()].join('; ')
}

import { PetStoreError } from '../errors.ts'
import { isInt64, isPetStatus, type NewPet, petStatuses } from '../model.ts'
import type { OptionRule, OptionRules } from '../support/option-rules.ts'
import { describeJson, JsonNumber } from './json/read.ts'

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

export const statusRule: OptionRule = {
  expected: `one of ${petStatuses.join(', ')}`,
  check: (value) => value === undefined || isPetStatus(value),
}

export function newPetRules(maxNameLength: number) {
  return {
    name: {
      expected: `a string of at most ${maxNameLength} characters, at least one of them not white space, without U+0000 and lone surrogates`,
      check: (value) => typeof value === 'string' && isName(value, maxNameLength),
    },
    categoryId: {
      expected: 'an integer from -2^63 to 2^63-1',
      check: (value) => typeof value === 'bigint' && isInt64(value),
    },
    status: statusRule,
  } satisfies Record<keyof NewPet, OptionRule>
}

/** @throws {PetStoreError} `invalid_body`, with each wrong field, what was expected and what was received */
export function parseNewPet(rules: ReturnType<typeof newPetRules>, body: unknown): NewPet {
  const isRecord = typeof body === 'object' && body !== null && !Array.isArray(body) && !(body instanceof JsonNumber)
  if (!isRecord) throw invalidBody(`expected an object with name and categoryId, got ${describeJson(body)}`)
  const members = {
    name: ownValue(body, 'name'),
    categoryId: ownValue(body, 'categoryId'),
    status: ownValue(body, 'status'),
  } satisfies Record<keyof NewPet, unknown>
  const { name, categoryId, status } = members
  if (rules.name.check(name) && rules.categoryId.check(categoryId) && rules.status.check(status))
    return members as NewPet
  throw invalidBody(problemsOf(rules, members, describeJson))
}

function invalidBody(problems: string): PetStoreError {
  return new PetStoreError('invalid_body', `The body is not a valid animal: ${problems}.`)
}

/** Reads nothing from the prototype, which a member `__proto__` of a body may have replaced. */
function ownValue(body: object, name: keyof NewPet): unknown {
  return Object.hasOwn(body, name) ? (body as Partial<NewPet>)[name] : undefined
}

/** Returns one problem for each wrong value, as text: `limit: expected …, got …`. */
export function problemsOf<Name extends string>(
  rules: OptionRules<Name>,
  values: Readonly<Record<Name, unknown>>,
  describe: (value: unknown) => string,
): string {
  const problems: string[] = []
  for (const name in rules) {
    const { expected, check } = rules[name]
    if (!check(values[name])) problems.push(`${name}: expected ${expected}, got ${describe(values[name])}`)
  }
  return problems.join('; ')
}

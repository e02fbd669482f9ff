import { PetStoreError } from '../errors.ts'
import { describeValue } from './describe-value.ts'
import { isUrl } from './is-url.ts'

export interface OptionRule {
  /** A valid value in words, for the error message. */
  readonly expected: string
  readonly check: (value: unknown) => boolean
  /** Rules for the members of an object; the rule `*` applies to every member without a rule of its own. */
  readonly members?: OptionRules
}

export type OptionRules<Name extends string = string> = Readonly<Record<Name, OptionRule>>

export function isPositiveInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/** Returns whether a value is an http or https URL without credentials, query and fragment. */
export function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\/[^?#@/\\]+(?:\/[^?#]*)?$/i.test(value) && isUrl(value)
}

/** Returns whether a value is an object, but not an array, map or promise. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(Symbol.iterator in value || value instanceof Promise)
}

export const functionRule: OptionRule = { expected: 'a function', check: (value) => typeof value === 'function' }

export function oneOf(...values: readonly unknown[]): OptionRule {
  return { expected: values.map(String).join(' or '), check: (value) => values.includes(value) }
}

/** The rule of a port or a clock. A function with these methods is valid too, because `Date` is a clock. */
export function withMethods(...names: readonly string[]): OptionRule {
  return {
    expected: `an object with ${names.join(', ')}`,
    // An array has a method `find` too, but `array.find(token)` throws an error that contains the token.
    check: (value) =>
      !Array.isArray(value) &&
      names.every((name) => typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function'),
  }
}

export const clockRule = withMethods('now')
export const keyStoreRule = withMethods('find')

export function wholeNumber(minimum: number, maximum?: number, unit?: string): OptionRule {
  return {
    expected: `a whole number${unit ? ` of ${unit}` : ''} from ${minimum} to ${maximum ?? '2^53-1'}`,
    check: (value) => Number.isSafeInteger(value) && minimum <= Number(value) && Number(value) <= (maximum ?? Infinity),
  }
}

export const positiveIntegerRule = wholeNumber(1)
/** The longest delay of `setTimeout`. */
const LONGEST_DELAY = 2 ** 31 - 1
export const millisecondsRule = wholeNumber(0, LONGEST_DELAY, 'milliseconds')
export const timeoutRule = wholeNumber(1, LONGEST_DELAY, 'milliseconds')

export const planNamesRule: OptionRule = {
  expected: 'a list of the names of plans',
  check: (value) => Array.isArray(value) && value.every((name) => typeof name === 'string'),
}

export const limitsRule: OptionRule = {
  expected: '{ perMinute, perDay }, whole numbers of at least 1',
  check: (value) => isObject(value) && isPositiveInteger(value.perMinute) && isPositiveInteger(value.perDay),
  members: { perMinute: positiveIntegerRule, perDay: positiveIntegerRule },
}

/** Checks all options, except the `ignored` ones. @throws {PetStoreError} `invalid_option`, with the name of the option */
export function checkOptions(rules: OptionRules, options: object, ignored: readonly string[] = [], path = ''): void {
  if (!isObject(options)) throw invalidOption('options', 'a plain object', options)
  // The names in `rules` are read too, because `Object.keys(options)` does not list inherited options.
  for (const name of new Set([...Object.keys(options), ...Object.keys(rules)])) {
    const value: unknown = options[name]
    if (value === undefined || ignored.includes(name)) continue
    const rule = Object.hasOwn(rules, name) ? rules[name] : rules['*']
    if (!rule) throw unknownOption(path, name, Object.keys(rules), value)
    if (rule.members && isObject(value)) checkOptions(rule.members, value, [], `${path}${name}.`)
    if (!rule.check(value)) throw invalidOption(path + name, rule.expected, value)
  }
}

function unknownOption(path: string, name: string, known: readonly string[], value: unknown): PetStoreError {
  const { message } = invalidOption(path + name, `one of the options ${known.join(', ')}`, value)
  const similar = similarOption(name, known)
  return new PetStoreError('invalid_option', similar ? `${message}; did you mean ${path}${similar}?` : message)
}

function similarOption(name: string, known: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  // If more than a third of the letters differ, the names are probably different words.
  const edits = (option: string) => editDistance(option.toLowerCase(), lower) / option.length
  const [nearest] = known.filter((option) => edits(option) <= 1 / 3).sort((a, b) => edits(a) - edits(b))
  return nearest
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [i, letter] of [...from].entries()) {
    const next = [i + 1]
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] as number) + (letter === to[j] ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] as number) + 1, (next[j] as number) + 1))
    }
    row = next
  }
  return row[to.length] as number
}

export function invalidOption(name: string, expected: string, value: unknown): PetStoreError {
  return new PetStoreError('invalid_option', `option ${name}: expected ${expected}, got ${describeValue(value)}`)
}

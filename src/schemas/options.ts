import * as z from 'zod/mini'
import { PetStoreError } from '../errors.ts'
import type { Clock, KeyStore } from '../ports.ts'
import { describeValue } from '../support/describe-value.ts'
import {
  type Expectation,
  expecting,
  listText,
  optionsText,
  type Problem,
  pathText,
  problemsOf,
  type Shape,
} from './expected.ts'

interface ObjectRules {
  /** A valid object in words. @default 'a plain object' */
  readonly expected?: string
  /** The schemas of further members, which no error message lists as known names. @default none */
  readonly others?: Readonly<Record<string, z.ZodMiniType>>
}

/**
 * Returns the schema of the options `T`: rejects unknown members, except those that are
 * `undefined`. The parsed options are a frozen copy with plain members, so later changes by the
 * caller have no effect. Inherited members and getters are read too.
 */
export function optionsOf<T extends object>(
  shape: Shape<T>,
  { expected = 'a plain object', others = {} }: ObjectRules = {},
): z.ZodMiniType<T> {
  const { error } = expecting(expected)
  // With a check instead of the transform, `z.toJSONSchema` would not describe the members.
  const plain = z.transform((value: unknown, { issues }) => {
    if (isPlainObject(value)) return value
    issues.push({ code: 'custom', input: value, message: error({ input: value }) })
    return z.NEVER
  })
  const members = z.catchall(z.object({ ...others, ...shape }), unknownMember(Object.keys(shape)))
  const schema: z.ZodMiniType = z.readonly(z.pipe(plain, members))
  // The compiler cannot compute the members of a generic shape. `Shape<T>` has checked each of
  // them.
  return schema as z.ZodMiniType<T>
}

/** Returns whether a value is an object, but not an array, map or promise. */
function isPlainObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !(Symbol.iterator in value || value instanceof Promise)
}

/** The schema of a member whose name is unknown. `params` is part of each problem. */
function unknownMember(known: readonly string[]) {
  const { error } = expecting(`one of ${optionsText(known)}`)
  return z.custom<undefined>((value) => value === undefined, { error, params: { known } })
}

/** Returns a text that follows a problem in an error message. */
type Hint = (problem: Problem) => string
const noHint: Hint = () => ''

/** Returns the error about wrong options: each of them, what was expected and what was received. */
export function optionsError(error: z.core.$ZodError, hint = noHint): PetStoreError {
  const problems = problemsOf(error).map((problem) => (problem.path.length > 0 ? problem : inside('options', problem)))
  return errorOf(problems, hint)
}

/** Returns the error about one wrong option, perhaps about members of it. */
export function optionError(name: string, error: z.core.$ZodError, hint = noHint): PetStoreError {
  return errorOf(
    problemsOf(error).map((problem) => inside(name, problem)),
    hint,
  )
}

/** Returns the error about an option that a schema alone cannot check. */
export function invalidOption(name: string, expected: string, value: unknown): PetStoreError {
  return errorOf([{ path: [name], message: expecting(expected).error({ input: value }) }], noHint)
}

function inside(name: string, problem: Problem): Problem {
  return { ...problem, path: [name, ...problem.path] }
}

function errorOf(problems: readonly Problem[], hint: Hint): PetStoreError {
  const textOf = (problem: Problem) => `option ${pathText(problem.path)}: ${problem.message}${hint(problem)}`
  return new PetStoreError('invalid_option', listText(problems, textOf))
}

/**
 * The names of the methods that each `T` has. The compiler requires all of them, so no schema
 * forgets a new method.
 */
type RequiredMethods<T> = { readonly [Name in keyof T as undefined extends T[Name] ? never : Name]: true }

/**
 * Returns the schema of a port, a driver or a clock. A function with these methods is valid too,
 * because `Date` is a clock.
 */
export function withMethods<T>(methods: RequiredMethods<T>, expected?: string) {
  const names = Object.keys(methods)
  // An array has a method `find` too, but `array.find(token)` throws an error that contains the
  // token.
  return z.custom<T>(
    (value) => !Array.isArray(value) && names.every((name) => typeof Object(value)[name] === 'function'),
    expecting(expected ?? `an object with ${names.join(', ')}`),
  )
}

export const clock = withMethods<Clock>({ now: true })
export const keyStore = withMethods<KeyStore>({ find: true })

export function functionOf<T>() {
  return z.custom<T>((value) => typeof value === 'function', expecting('a function'))
}

/** Returns the schema of a number with one of these values, such as `enforce or announce`. */
export function oneOf<const T extends string | null>(...values: readonly T[]) {
  return z.literal([...values], expecting(values.map(String).join(' or ')))
}

/** Returns the schema of a whole number from `minimum` to `maximum`. */
export function wholeNumber(minimum: number, maximum = Number.MAX_SAFE_INTEGER, unit = '') {
  const end = maximum === Number.MAX_SAFE_INTEGER ? '2^53-1' : maximum
  const expected = expecting(`a whole number${unit && ` of ${unit}`} from ${minimum} to ${end}`)
  const once = { ...expected, abort: true }
  return z.int(once).check(z.minimum(minimum, once), z.maximum(maximum, once))
}

export const positiveInteger = wholeNumber(1)
/** The longest delay of `setTimeout`. */
export const LONGEST_DELAY = 2 ** 31 - 1
export const milliseconds = wholeNumber(0, LONGEST_DELAY, 'milliseconds')
export const timeout = wholeNumber(1, LONGEST_DELAY, 'milliseconds')

/** Returns the schema of a list, which is copied and frozen. */
export function listOf<T>(item: z.ZodMiniType<T>, expected: string): z.ZodMiniType<readonly T[]> {
  return z.readonly(z.array(item, expecting(expected)))
}

/** Returns the schema of a text that passes a check. */
export function textThat(isValid: (text: string) => boolean, expected: string | Expectation) {
  const expectation = typeof expected === 'string' ? expecting(expected) : expected
  return z.string(expectation).check(z.refine(isValid, expectation))
}

/** Describes a secret without showing it. */
export function describeSecret(value: unknown): string {
  return describeValue(typeof value === 'string' ? '***' : value)
}

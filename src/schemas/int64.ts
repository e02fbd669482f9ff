import * as z from 'zod/mini'
import { INT64_MIN, isInt64 } from '../model.ts'
import { type Expectation, expecting } from './expected.ts'

const INTEGER = 'an integer from -2^63 to 2^63-1'
const ofJson = expecting(INTEGER)
const ofProgram = expecting(`${INTEGER} as a bigint, such as 7n`)

/** Returns a schema of an int64 as a `bigint`, because a number would be rounded above 2^53. */
export function int64() {
  const expected: Expectation = {
    error: (issue) => (Number.isSafeInteger(issue.input) ? ofProgram : ofJson).error(issue),
  }
  return z.bigint(expected).check(z.refine(isInt64, expected))
}

/** Returns a schema of an int64 that may also be a number, if the number is exact. The result is a `bigint`. */
export function hostInt64(minimum = INT64_MIN) {
  const from = minimum === INT64_MIN ? '-2^63' : minimum
  const expected = expecting(`an integer from ${from} to 2^63-1, above 2^53-1 as a bigint such as 7n`)
  return z.pipe(
    z.transform((value: unknown) => (Number.isSafeInteger(value) ? BigInt(value as number) : value)),
    z.bigint(expected).check(z.refine((value) => isInt64(value) && value >= minimum, expected)),
  )
}

export const INT64_TEXT = /^(?:0|-?[1-9]\d{0,18})$/

/**
 * Returns the int64 of a text such as `7`, or `undefined` for any other text, also for `07`: each
 * id has only one text.
 */
export function parseInt64(text: string): bigint | undefined {
  if (!INT64_TEXT.test(text)) return undefined
  const value = BigInt(text)
  return isInt64(value) ? value : undefined
}

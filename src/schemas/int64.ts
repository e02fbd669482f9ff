import * as z from 'zod/mini'
import { isInt64 } from '../model.ts'
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

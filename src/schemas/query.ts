import * as z from 'zod/mini'
import { MAX_LIMIT } from '../model.ts'
import type { PetQuery } from '../ports.ts'
import { describeValue } from '../support/describe-value.ts'
import { expecting } from './expected.ts'
import { parseInt64 } from './int64.ts'
import { petStatus } from './pet.ts'
import { textFor } from './text.ts'

export const DEFAULT_LIMIT = 20

/**
 * Returns the error text of a parameter, which is always text. A parameter that was sent twice is
 * an array.
 */
function expectingParameter(expected: string) {
  return expecting(expected, (value) =>
    Array.isArray(value) ? `${value.length} values` : describeValue(value === undefined ? value : String(value)),
  )
}

/**
 * Returns the schema of a parameter with a number of items from 1 to `maximum`. At most 15 digits
 * are exact.
 */
export function countParameter(maximum: number) {
  const expected = expectingParameter(`a whole number from 1 to ${maximum}`)
  return z.pipe(
    textFor((text) => (/^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined), expected),
    z.int(expected).check(z.minimum(1, expected), z.maximum(maximum, expected)),
  )
}

/** The parameters of a list, by their names in the URL. */
export const pageParameters = {
  limit: z._default(countParameter(MAX_LIMIT), DEFAULT_LIMIT),
  status: z.optional(petStatus(expectingParameter)),
  cursor: z.optional(textFor(decodeCursor, expectingParameter('a cursor from an earlier page'))),
}

/** The query of a list: texts by the names of the parameters. The result is what a storage gets. */
export const petQuery = z.pipe(
  z.object(pageParameters, expecting(`an object with the parameters ${Object.keys(pageParameters).join(', ')}`)),
  z.transform(({ limit, status, cursor }): PetQuery => ({ limit, status, after: cursor })),
)

/** The id of an animal in a path, as text. */
export const petId = textFor(parseInt64, expecting('the id of an animal'))

/**
 * The version of the cursor format, at the start of each cursor. A later format can have another
 * number.
 */
const VERSION = '1'

/**
 * Returns the cursor for the animals after this id: Base64 of `1:7`, whose characters need no
 * escapes in a URL.
 */
export function encodeCursor(after: bigint): string {
  return btoa(`${VERSION}:${after}`).replaceAll('=', '')
}

/**
 * Returns the id in a cursor, or `undefined` for any text that {@link encodeCursor} does not
 * return.
 */
export function decodeCursor(cursor: string): bigint | undefined {
  try {
    const after = parseInt64(atob(cursor).slice(VERSION.length + 1))
    // Encode the id again: the result differs if the cursor has another version, separator or
    // padding.
    if (after !== undefined && encodeCursor(after) === cursor) return after
  } catch {
    // The text is not Base64.
  }
  return undefined
}

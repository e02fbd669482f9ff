import * as z from 'zod/mini'
import type { Expectation } from './expected.ts'

/**
 * Returns a schema of texts that `read` turns into a value. For any other text, `read` returns
 * `undefined`.
 * @param expectation - the error text
 */
export function textFor<T>(read: (text: string) => T | undefined, expectation: Expectation) {
  return z.pipe(
    z.string(expectation),
    z.transform((text: string, { issues }): T => {
      const value = read(text)
      if (value !== undefined) return value
      issues.push({ code: 'custom', input: text, message: expectation.error({ input: text }) })
      return z.NEVER
    }),
  )
}

/**
 * Returns whether every database can store a text: some cannot store U+0000 and lone surrogates.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

/**
 * Returns whether a text has at most this many characters. Characters are Unicode code points, as
 * JSON Schema counts them, so an emoji of two UTF-16 code units is one character.
 */
export function hasAtMost(text: string, characters: number): boolean {
  return text.length <= characters || Array.from(text).length <= characters
}

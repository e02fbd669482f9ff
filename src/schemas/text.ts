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
 * Returns a check of how many characters a text has. Characters are Unicode code points, as JSON
 * Schema counts them, so an emoji of two UTF-16 code units is one character. `maxLength` of zod
 * would count UTF-16 code units.
 */
export function maxCharacters(maximum: number, expectation: Expectation): z.core.$ZodCheck<string> {
  const check = z.check<string>(({ value, issues }) => {
    if (hasAtMost(value, maximum)) return
    issues.push({ code: 'custom', input: value, message: expectation.error({ input: value }), continue: false })
  })
  // `z.toJSONSchema` reads `maxLength` from here.
  check._zod.onattach.push((schema) => {
    schema._zod.bag.maximum = maximum
  })
  return check
}

/**
 * Returns whether every database can store a text: some cannot store U+0000 and lone surrogates.
 */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\u0000')
}

function hasAtMost(text: string, characters: number): boolean {
  return text.length <= characters || Array.from(text).length <= characters
}

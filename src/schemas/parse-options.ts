import leven from 'leven'
import type * as z from 'zod/mini'
import { type Problem, pathText } from './expected.ts'
import { optionError, optionsError } from './options.ts'

// The client does not use this file: `leven`, which finds similar names, would make it larger.

/**
 * @throws {PetStoreError} `invalid_option`, with each wrong option, what was expected and what was
 * received
 */
export function parseOptions<T>(schema: z.ZodMiniType<T>, options: unknown): T {
  const parsed = schema.safeParse(options)
  if (parsed.success) return parsed.data
  throw optionsError(parsed.error, similarName)
}

/** Checks one argument or option. @throws {PetStoreError} `invalid_option`, with its name */
export function parseOption<T>(name: string, schema: z.ZodMiniType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw optionError(name, parsed.error, similarName)
}

/** Returns a known name that is similar to an unknown one, as a question. */
function similarName({ path, known = [] }: Problem): string {
  const name = String(path.at(-1))
  // If more than a third of the letters differ, the names are probably different words.
  const similar = known.find((option) => leven(name, option) <= name.length / 3)
  return similar === undefined ? '' : `; did you mean ${pathText([...path.slice(0, -1), similar])}?`
}

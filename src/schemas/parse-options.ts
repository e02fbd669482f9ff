import type * as z from 'zod/mini'
import { similarName } from '../support/similar-name.ts'
import { type Problem, pathText } from './expected.ts'
import { optionError, optionsError } from './options.ts'

/**
 * @throws {PetStoreError} `invalid_option`, with each wrong option, what was expected and what was
 * received
 */
export function parseOptions<T>(schema: z.ZodMiniType<T>, options: unknown): T {
  const parsed = schema.safeParse(options)
  if (parsed.success) return parsed.data
  throw optionsError(parsed.error, similarNameHint)
}

/** Checks one argument or option. @throws {PetStoreError} `invalid_option`, with its name */
export function parseOption<T>(name: string, schema: z.ZodMiniType<T>, value: unknown): T {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  throw optionError(name, parsed.error, similarNameHint)
}

/** Returns a known name that is similar to an unknown one, as a question. */
function similarNameHint({ path, known = [] }: Problem): string {
  const similar = similarName(String(path.at(-1)), known)
  return similar === undefined ? '' : `; did you mean ${pathText([...path.slice(0, -1), similar])}?`
}

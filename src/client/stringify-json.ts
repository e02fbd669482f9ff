import { stringify } from 'lossless-json'
import { invalidOption } from '../schemas/options.ts'

/**
 * Writes a value as `JSON.stringify` does, but with each `bigint` as an integer. {@link parseJson}
 * reads the text without rounding.
 * @throws {PetStoreError} `invalid_option` if JSON cannot represent the value, such as `undefined`
 * or a function
 * @example
 * ```ts
 * import { stringifyJson } from 'petstore-kit/client'
 *
 * console.log(stringifyJson({ id: 9007199254740993n })) // {"id":9007199254740993}
 * ```
 */
export function stringifyJson(value: unknown): string {
  const text = stringify(value)
  if (text === undefined) throw invalidOption('value', 'a value that JSON can represent', value)
  return text
}

import { stringify } from 'lossless-json'
import { isPetStoreError } from '../errors.ts'
import { readJson } from '../pets/json.ts'
import { describeValue, JsonNumber } from '../support/describe-value.ts'
import { invalidOption } from './options.ts'

/**
 * Parses JSON without rounding ids: each integer within 64 bits becomes a `bigint`, also `1`; other
 * numbers become `number`. `JSON.parse` and `response.json()` would round integers beyond 2^53
 * without an error.
 * @param json - the text, or its bytes in UTF-8
 * @throws {PetStoreError} `malformed_json`, also for a repeated member name and for more than 256
 * levels of nesting
 * @example
 * ```ts
 * import { parseJson } from 'petstore-kit/client'
 *
 * console.log(parseJson('{"id":9007199254740993}')) // { id: 9007199254740993n }
 * ```
 */
export function parseJson(json: string | Uint8Array): unknown {
  return withPlainNumbers(readJson(json))
}

/** Returns `undefined` for a text that is not JSON. */
export function parseJsonIfValid(json: string | Uint8Array): unknown {
  try {
    return parseJson(json)
  } catch (error) {
    // Any other error is about the environment, such as a missing `TextDecoder`.
    if (!isPetStoreError(error)) throw error
    return undefined
  }
}

function withPlainNumbers(value: unknown): unknown {
  if (value instanceof JsonNumber) return Number(value.text)
  if (Array.isArray(value)) return value.map(withPlainNumbers)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withPlainNumbers(inner)]))
}

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
  if (text === undefined) throw invalidOption('value', 'a value that JSON can represent', describeValue(value))
  return text
}

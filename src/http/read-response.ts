import { PetStoreError } from '../errors.ts'
import { MAX_LIMIT } from '../model.ts'
import { BodyBytes } from './body-bytes.ts'

/**
 * The largest body of a response, in bytes: a full page of animals. Each is as large as the default `bodyLimit` of 65,536 bytes
 * lets a client create it, and the rest is for its id and punctuation.
 */
export const MAX_RESPONSE = MAX_LIMIT * 75_000

/**
 * Reads the body of a response, and stops as soon as the body exceeds the limit. `response.arrayBuffer()` would read all of it,
 * however much a hostile server sends or a small gzip body expands to.
 *
 * @param limit - the largest body, in bytes, after decompression
 * @throws {PetStoreError} `unexpected_response` if the body is larger
 */
export async function readResponse(response: Response, limit = MAX_RESPONSE): Promise<Uint8Array> {
  // React Native has no `Response.body`.
  if (!response.body) return new Uint8Array(await response.arrayBuffer())
  const reader = response.body.getReader()
  const bytes = new BodyBytes(limit)
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return bytes.all()
    if (bytes.add(value) !== undefined) {
      // Do not wait for the result, because a stream may never finish to cancel.
      reader.cancel().catch(() => {})
      throw tooLong(response, limit)
    }
  }
}

function tooLong({ status }: Response, limit: number): PetStoreError {
  const message = `expected a body of at most ${limit} bytes with status ${status}, got a longer one`
  return new PetStoreError('unexpected_response', message, { status })
}

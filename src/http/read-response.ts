import { PetStoreError } from '../errors.ts'
import { MAX_LIMIT } from '../model.ts'
import { BodyBytes } from './body-bytes.ts'

/** The largest response, in bytes: a full page of animals, each from a body of the default `bodyLimit` (65,536), and room for ids. */
const MAX_RESPONSE = MAX_LIMIT * 75_000

/**
 * Reads the body of a response, of at most `limit` bytes after decompression. `response.arrayBuffer()` would read without a limit
 * what a hostile server sends, or what a small gzip body expands to.
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
      // Do not wait, because `cancel` of some streams never resolves.
      reader.cancel().catch(() => {})
      const { status } = response
      const message = `expected a body of at most ${limit} bytes with status ${status}, got a longer one`
      throw new PetStoreError('unexpected_response', message, { status })
    }
  }
}

import { PetStoreError } from '../errors.ts'
import { MAX_LIMIT } from '../model.ts'
import { BodyBytes } from './body-bytes.ts'

/** The largest response, in bytes: a full page of animals that each have the default `bodyLimit` of 65,536 bytes, plus an id. */
const MAX_RESPONSE = MAX_LIMIT * 75_000

/**
 * Reads the body of a response, but at most `limit` bytes after decompression. `response.arrayBuffer()` has no limit: a hostile
 * server could fill the memory, even with a small gzip body.
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

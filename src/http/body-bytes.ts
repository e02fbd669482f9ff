import { PetStoreError } from '../errors.ts'
import { MAX_LIMIT } from '../model.ts'
import { readRequestId } from './request-id.ts'

/**
 * A body may have this many chunks, and one more for each 16 bytes of `limit`. Many tiny chunks
 * would take much time.
 */
const MIN_CHUNKS = 256
const BYTES_PER_CHUNK = 16
const FIRST_SIZE = 1_024
const NO_BYTES = new Uint8Array()

/**
 * Copies the chunks of a body into one array as they arrive. On Deno, even a chunk of one byte
 * would keep 64 KiB in memory.
 */
export class BodyBytes {
  readonly #limit: number
  readonly #maxChunks: number
  #bytes: Uint8Array = NO_BYTES
  #size = 0
  #chunks = 0

  constructor(limit: number) {
    this.#limit = limit
    this.#maxChunks = MIN_CHUNKS + Math.floor(limit / BYTES_PER_CHUNK)
  }

  get size(): number {
    return this.#size
  }

  /**
   * Adds a chunk. If the body would then have too many bytes or chunks, returns an error message
   * instead.
   */
  add(chunk: Uint8Array): string | undefined {
    const size = this.#size + chunk.byteLength
    if (size > this.#limit) return `expected at most ${this.#limit} bytes`
    this.#chunks += 1
    if (this.#chunks > this.#maxChunks) return `expected at most ${this.#maxChunks} chunks`
    if (this.#chunks === 1) this.#bytes = chunk
    else {
      // The first chunk belongs to the host. It has no room for a second one, so `#grow` makes a copy
      // before anything is written.
      if (size > this.#bytes.byteLength) this.#grow(size)
      this.#bytes.set(chunk, this.#size)
    }
    this.#size = size
    return undefined
  }

  all(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  #grow(size: number): void {
    const larger = new Uint8Array(Math.max(FIRST_SIZE, 2 * size))
    larger.set(this.all())
    this.#bytes = larger
  }
}

/**
 * The largest response, in bytes: a full page of animals that each have the default `bodyLimit` of
 * 65,536 bytes, plus an id.
 */
const MAX_RESPONSE = MAX_LIMIT * 75_000

/**
 * Reads the body of a response, but at most `limit` bytes after decompression.
 * `response.arrayBuffer()` has no limit: a hostile server could fill the memory, even with a small
 * gzip body.
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
      const { status, headers } = response
      const message = `expected a body of at most ${limit} bytes with status ${status}, got a longer one`
      throw new PetStoreError('unexpected_response', message, { status, requestId: readRequestId(headers) })
    }
  }
}

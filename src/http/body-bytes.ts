/** How many chunks a body may have, besides one for each 16 bytes of its limit. Each chunk takes time, however small it is. */
const MIN_CHUNKS = 256
const BYTES_PER_CHUNK = 16
/** The size of the first joined array, in bytes. */
const FIRST_SIZE = 1_024

/**
 * The bytes of a body that arrives in chunks. From the second chunk on, they are copied into one array: a host may pass each byte
 * in a buffer of its own, which Deno makes 64 KiB long.
 */
export class BodyBytes {
  readonly #limit: number
  #bytes: Uint8Array = new Uint8Array()
  #size = 0
  #chunks = 0

  /** @param limit - the largest body, in bytes */
  constructor(limit: number) {
    this.#limit = limit
  }

  get size(): number {
    return this.#size
  }

  /** Adds a chunk. Returns what is wrong if the body now has too many bytes or chunks. The chunk is then not added. */
  add(chunk: Uint8Array): string | undefined {
    const size = this.#size + chunk.byteLength
    const maxChunks = MIN_CHUNKS + Math.floor(this.#limit / BYTES_PER_CHUNK)
    if (size > this.#limit) return `expected at most ${this.#limit} bytes`
    if (++this.#chunks > maxChunks) return `expected at most ${maxChunks} chunks`
    if (this.#chunks === 1) this.#bytes = chunk
    else {
      // The first array belongs to the host, so nothing is written into it.
      if (this.#chunks === 2 || size > this.#bytes.byteLength) this.#grow(size)
      this.#bytes.set(chunk, this.#size)
    }
    this.#size = size
    return undefined
  }

  /** Returns all bytes. */
  all(): Uint8Array {
    return this.#bytes.subarray(0, this.#size)
  }

  #grow(size: number): void {
    const larger = new Uint8Array(Math.max(FIRST_SIZE, 2 * size))
    larger.set(this.all())
    this.#bytes = larger
  }
}

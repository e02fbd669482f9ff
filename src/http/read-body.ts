import { PetStoreError } from '../errors.ts'
import { systemClock } from '../support/time.ts'
import { BodyBytes } from './body-bytes.ts'

/** How many bytes of a rejected body are discarded at most, and for how many milliseconds. */
const MAX_DISCARDED = 16_777_216
const MAX_DISCARD_TIME = 60_000

type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'releaseLock'>

/**
 * Reads a whole body of at most `limit` bytes. If it is too large, the rest stays in the stream.
 * @param signal - aborts when the client disconnects; `undefined` if the body stream itself fails
 * when the client disconnects
 * @throws {PetStoreError} `payload_too_large` or `incomplete_body`
 */
export async function readBody(
  body: ReadableStream<Uint8Array>,
  headers: Headers,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const reader = byteReader(body)
  const bytes = new BodyBytes(limit)
  try {
    for (;;) {
      const { done, value } = await bodyUnlessAborted(reader.read(), { signal })
      // Over HTTP/2, a body without Content-Length ends like a complete one if the client
      // disconnects.
      if (done && signal?.aborted && !headers.has('transfer-encoding')) throw signal.reason
      if (done) return bytes.all()
      if (!ArrayBuffer.isView(value)) throw new TypeError('the body stream returned something other than bytes')
      const problem = bytes.add(value)
      if (problem !== undefined) {
        reader.releaseLock()
        throw payloadTooLarge(problem)
      }
    }
  } catch (cause) {
    if (cause instanceof PetStoreError) throw cause
    // Some servers abort the signal although the whole body has arrived.
    if (signal?.aborted && headers.get('content-length') === String(bytes.size)) return bytes.all()
    throw new PetStoreError('incomplete_body', undefined, { cause })
  }
}

/** The largest number of bytes that one call of `read` returns. */
const READ_SIZE = 16_384

/**
 * Returns a reader that reuses one buffer if possible. With an ordinary reader, Deno 2.9 allocates
 * 64 KiB for each chunk.
 */
function byteReader(body: ReadableStream<Uint8Array>): BodyReader {
  try {
    const reader = body.getReader({ mode: 'byob' })
    let buffer = new ArrayBuffer(READ_SIZE)
    const read = async (): Promise<ReadableStreamReadResult<Uint8Array>> => {
      const { done, value } = await reader.read(new Uint8Array(buffer))
      if (done) return { done, value: undefined }
      buffer = value.buffer
      return { done, value: value.slice() }
    }
    return { read, releaseLock: () => reader.releaseLock() }
  } catch {
    return body.getReader()
  }
}

/**
 * When the signal aborts, waits for one timer before it rejects: some servers abort after a
 * complete body. Reads `request.signal` only if the body is late: with Hono on Node, reading it
 * takes a fifth of the time of a create.
 */
export function bodyUnlessAborted<T>(body: Promise<T>, request: { signal?: AbortSignal | undefined }): Promise<T> {
  return new Promise((resolve, reject) => {
    let stop = () => clearTimeout(timer)
    const timer = setTimeout(() => {
      const { signal } = request
      if (!signal) return
      const onAbort = () => setTimeout(reject, 0, signal.reason)
      if (signal.aborted) onAbort()
      else {
        signal.addEventListener('abort', onAbort)
        stop = () => signal.removeEventListener('abort', onAbort)
      }
    })
    body.then(resolve, reject).finally(() => stop())
  })
}

/**
 * Discards the rest of a body. On most servers of Node, an unread body would block the next request
 * on the same connection. The stream is never cancelled: with srvx (h3 2, Nitro 3), Next.js and
 * Astro, the connection would then hang, and h3 1.15 would end the process.
 */
export async function readAndDiscard(body: ReadableStream<Uint8Array>): Promise<void> {
  const end = systemClock.monotonic() + MAX_DISCARD_TIME
  try {
    const reader = body.getReader()
    let discarded = 0
    while (discarded < MAX_DISCARDED && systemClock.monotonic() < end) {
      const { done, value } = await reader.read()
      if (done) return
      // Count each chunk as 1,000 bytes more, because many small chunks take time too.
      discarded += value.byteLength + 1_000
    }
  } catch {
    // The client has disconnected, or other code reads the body.
  }
}

export function tooLarge(limit: number): PetStoreError {
  return payloadTooLarge(`expected at most ${limit} bytes`)
}

export function payloadTooLarge(problem: string): PetStoreError {
  return new PetStoreError('payload_too_large', `The body is too large: ${problem}.`)
}

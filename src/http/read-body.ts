import { PetStoreError } from '../errors.ts'
import { BodyBytes } from './body-bytes.ts'

/** How much of a body that is too large is read and discarded, in bytes. */
const MAX_DISCARDED = 4_000_000

export type BodyReader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read' | 'cancel'>

/**
 * Reads the whole body of a `Request`, of at most `limit` bytes.
 * @param signal - aborts when the client disconnects; `undefined` if the body itself then ends with an error
 * @param discardRest - reads or cancels the rest of a body that is too large
 * @throws {PetStoreError} `payload_too_large` or `incomplete_body`
 */
export async function readBody(
  request: Request,
  limit: number,
  signal: AbortSignal | undefined,
  discardRest: (reader: BodyReader) => Promise<void>,
): Promise<Uint8Array> {
  const reader = byteReader(request.body) ?? request.body?.getReader?.() ?? wholeBodyReader(request)
  const abort = watchAbort(request, signal)
  const bytes = new BodyBytes(limit)
  try {
    for (;;) {
      const { done, value } = await abort.during(() => reader.read(), bytes.size)
      if (done) return bytes.all()
      if (!ArrayBuffer.isView(value)) throw new TypeError('the body stream returned something other than bytes')
      const problem = bytes.add(value)
      if (problem !== undefined) {
        void discardRest(reader)
        throw payloadTooLarge(problem)
      }
    }
  } catch (cause) {
    throw cause instanceof PetStoreError ? cause : new PetStoreError('incomplete_body', undefined, { cause })
  } finally {
    abort.stop()
  }
}

const BUFFER_SIZE = 65_536

/** Returns a reader that uses one buffer, if the stream supports it. Deno 2.9 would allocate 64 KiB for a chunk of one byte. */
function byteReader(body: ReadableStream<Uint8Array> | null): BodyReader | undefined {
  try {
    const reader = body?.getReader({ mode: 'byob' })
    return reader && { read: bufferedRead(reader), cancel: (reason) => reader.cancel(reason) }
  } catch {
    return undefined
  }
}

function bufferedRead(reader: ReadableStreamBYOBReader): BodyReader['read'] {
  let buffer = new ArrayBuffer(BUFFER_SIZE)
  return async () => {
    const { done, value } = await reader.read(new Uint8Array(buffer))
    if (done) return { done, value: undefined }
    buffer = value.buffer
    return { done, value: value.slice() }
  }
}

/** Reads the body in one call: Firefox has no `Request.body`, and some libraries have a `body` without `getReader`. */
function wholeBodyReader(request: Request): BodyReader {
  let isRead = false
  return {
    async read() {
      if (isRead) return { done: true, value: undefined }
      isRead = true
      return { done: false, value: new Uint8Array(await request.arrayBuffer()) }
    },
    cancel: async () => {},
  }
}

/**
 * Rejects a pending read when the signal aborts. Some servers abort although the whole body has arrived: a body that is as long as
 * its `Content-Length` is then used, and a chunked body may still end before the next timer.
 */
function watchAbort({ headers }: Request, signal: AbortSignal | undefined) {
  const length = Number(headers.get('content-length') ?? Number.NaN)
  let onAbort = () => {}
  const listener = () => onAbort()
  signal?.addEventListener('abort', listener)
  return {
    stop: () => signal?.removeEventListener('abort', listener),
    during: (read: BodyReader['read'], size: number) =>
      new Promise<ReadableStreamReadResult<Uint8Array>>((resolve, reject) => {
        onAbort = () => {
          if (size === length) resolve({ done: true, value: undefined })
          else if (headers.get('transfer-encoding')) setTimeout(reject, 0, signal?.reason)
          else reject(signal?.reason)
        }
        if (signal?.aborted) onAbort()
        read().then(resolve, reject)
      }),
  }
}

/**
 * Rejects when the signal of the request aborts, unless the body arrives before the next timer: some servers abort after the whole
 * body has arrived. Reads `request.signal` only if the body is late: with Hono on Node, this takes a fifth of the time of a create.
 */
export function bodyUnlessAborted<T>(body: Promise<T>, request: Pick<Request, 'signal'>): Promise<T> {
  return new Promise((resolve, reject) => {
    let signal: AbortSignal | undefined
    const onAbort = () => setTimeout(reject, 0, signal?.reason)
    const timer = setTimeout(() => {
      signal = request.signal
      if (signal?.aborted) onAbort()
      else signal?.addEventListener('abort', onAbort)
    })
    const stop = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    body.then(resolve, reject).finally(stop)
  })
}

/** Discards the rest of a body. On some servers, an unread body would block the next request on the same connection. */
export async function readAndDiscard(reader: BodyReader): Promise<void> {
  try {
    for (let left = MAX_DISCARDED; left > 0; ) {
      const { done, value } = await reader.read()
      if (done) return
      // Count each chunk as 1,000 bytes more, because many small chunks take time too.
      left -= value.byteLength + 1_000
    }
    await reader.cancel()
  } catch {
    // The client has disconnected.
  }
}

export function tooLarge(limit: number): PetStoreError {
  return payloadTooLarge(`expected at most ${limit} bytes`)
}

export function payloadTooLarge(problem: string): PetStoreError {
  return new PetStoreError('payload_too_large', `The body is too large: ${problem}.`)
}

import { PetStoreError } from '../errors.ts'

type Reader = Pick<ReadableStreamDefaultReader<Uint8Array>, 'read'> &
  Partial<Pick<ReadableStreamDefaultReader, 'cancel'>>

/** Firefox tells no stream of a Request, and those of some libraries have one of another kind: their body comes whole. */
function wholeBody(request: Request): Reader {
  let isRead = false
  return {
    async read() {
      if (isRead) return { done: true, value: undefined }
      isRead = true
      return { done: false, value: new Uint8Array(await request.arrayBuffer()) }
    },
  }
}

/**
 * It cancels no stream without need: to some hosts that is the end of the whole connection, and some fail at it. Of who leaves
 * when all of the body has come it has the body: some hosts call a request closed as soon as they have read it, and a body in
 * chunks ended just after. Without chunks, as in HTTP/2, one that breaks off may end so as well.
 */
export async function readBody(
  request: Request,
  limit: number,
  length: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const reader: Reader = request.body?.getReader?.() ?? wholeBody(request)
  let bytes = new Uint8Array()
  let size = 0
  let leave = () => {}
  const onAbort = () => leave()
  signal?.addEventListener('abort', onAbort)
  try {
    for (;;) {
      const { done, value } = await new Promise<ReadableStreamReadResult<Uint8Array>>((resolve, reject) => {
        leave = () => {
          if (size === length) resolve({ done: true, value: undefined })
          else if (request.headers.get('transfer-encoding')) setTimeout(reject, 0, signal?.reason)
          else reject(signal?.reason)
        }
        if (signal?.aborted) leave()
        reader.read().then(resolve, reject)
      })
      if (done) return bytes.subarray(0, size)
      if (!ArrayBuffer.isView(value)) throw new TypeError('the body is not bytes')
      const start = size
      size += value.byteLength
      if (size > limit) {
        void letPass(reader)
        throw tooLarge(limit)
      }
      if (size > bytes.length) {
        const grown = new Uint8Array(size * 2)
        grown.set(bytes)
        bytes = grown
      }
      bytes.set(value, start)
    }
  } catch (cause) {
    throw cause instanceof PetStoreError ? cause : new PetStoreError('incomplete_body', undefined, { cause })
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/**
 * A body that was begun and is not read to its end holds up what comes behind it on its connection, with some servers on
 * Node until that times out, and on Deno, where it may be cancelled, for ever. Of one without an end 4 MB will do: a host
 * may have cloned the Request, and then keeps what is read.
 */
async function letPass(reader: Reader): Promise<void> {
  try {
    if ('Deno' in globalThis) await reader.cancel?.()
    else
      for (let left = 4_000_000; left > 0; ) {
        const { value } = await reader.read()
        // Pieces may be small, and each takes time as well.
        left -= value ? value.byteLength + 1_000 : left
      }
  } catch {
    // There is nobody to whom it matters.
  }
}

/** The error of a body over the limit, for every door. */
export function tooLarge(limit: number): PetStoreError {
  return new PetStoreError('payload_too_large', `The body is too large: expected at most ${limit} bytes.`)
}

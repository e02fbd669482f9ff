import { PetStoreError } from '../errors.ts'
import type { CallContext } from '../ports.ts'

/** A request as plain values. Its parts are read only when they are asked for. */
export interface ApiRequest extends CallContext {
  /** The method, as it came. */
  readonly method: string
  /** The request target as the client sent it: path and query, or the absolute form of RFC 9112, section 3.2.2. */
  readonly target: string
  /** The leading part of the target's path that a router of the host has already matched, such as `/shop`. */
  readonly mountPath?: string | undefined
  /** The client's address, where the door knows it. It is asked for before anything is waited for, or not at all. */
  readonly clientAddress?: string | undefined
  /** The value of a header, by its lower-case name; several of one name are joined by a comma and a space. */
  header(name: string): string | undefined
  /**
   * The whole body.
   *
   * @throws {PetStoreError} `payload_too_large` as soon as it is known to exceed `limit` bytes, `incomplete_body` where it
   * breaks off, `body_already_read` where the host has read it and nothing exact is left
   */
  body(limit: number): Promise<Uint8Array>
}

/** A response as plain values. */
export interface ApiResponse {
  /** The HTTP status. */
  readonly status: number
  /** Names and values by turns, as in Node's `rawHeaders`. */
  readonly headers: readonly string[]
  /** The whole body; empty where there is none. */
  readonly body: string
}

/**
 * Reads a `Request` as plain values, without copying it.
 *
 * For whoever mounts the store behind a Fetch-style server of their own and knows the client's address.
 *
 * @example
 * ```ts
 * import { createPetStore, memory, toApiRequest, toResponse } from 'petstore-kit'
 *
 * const petStore = createPetStore(memory())
 * const request = new Request('http://localhost/v1/pets', { headers: { 'cf-connecting-ip': '203.0.113.7' } })
 * const address = request.headers.get('cf-connecting-ip') ?? undefined
 * const response = toResponse(await petStore.handle(toApiRequest(request, address)))
 * console.log(response.status) // 401
 * ```
 */
export function toApiRequest(request: Request, clientAddress?: string): ApiRequest {
  return new FetchRequest(request, clientAddress)
}

/**
 * Makes a `Response` of plain values.
 *
 * @example
 * ```ts
 * import { toResponse } from 'petstore-kit'
 *
 * const response = toResponse({ status: 200, headers: ['Content-Type', 'application/json'], body: '[]' })
 * console.log(response.status) // 200
 * ```
 */
export function toResponse({ status, headers, body }: ApiResponse): Response {
  const response = new Response(body === '' ? null : body, status === 200 ? undefined : { status })
  // Text has a type of its own, beside which ours would stand.
  response.headers.delete('Content-Type')
  for (let i = 0; i < headers.length; i += 2) response.headers.append(headers[i] as string, headers[i + 1] as string)
  return response
}

/** A `Request` as plain values. */
export class FetchRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  protected readonly request: Request
  readonly #address: string | undefined

  constructor(request: Request, address?: string) {
    this.method = request.method
    this.target = request.url
    this.request = request
    this.#address = address
  }

  get clientAddress(): string | undefined {
    return this.#address
  }

  /** Requests of some hosts have none. */
  get signal(): AbortSignal | undefined {
    return this.request.signal
  }

  header(name: string): string | undefined {
    return this.request.headers.get(name) ?? undefined
  }

  async body(limit: number): Promise<Uint8Array> {
    const length = this.header('content-length')
    if (Number(length ?? 0) > limit) throw tooLarge(limit)
    const { request } = this
    const stream = request.body
    const isRead = request.bodyUsed || stream?.locked
    if (isRead && length !== '0') throw new PetStoreError('body_already_read')
    return isRead || stream === null ? new Uint8Array() : readBody(request, limit, Number(length), this.signal)
  }
}

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
async function readBody(
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

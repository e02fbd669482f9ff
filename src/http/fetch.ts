import { PetStoreError } from '../errors.ts'
import { invalidOption } from '../schemas/options.ts'
import { type BodyReader, bodyUnlessAborted, readAndDiscard, readBody, tooLarge } from './read-body.ts'
import type { ApiRequest } from './request.ts'
import { type ApiResponse, toResponse } from './response.ts'

/** A `Request`, and the signal of its caller. */
export interface BuiltRequest {
  readonly request: Request
  readonly signal: AbortSignal | undefined
}

/**
 * Builds a `Request` from the arguments of `fetch`, without the signal, and returns the signal
 * beside it. In a test with jsdom, `AbortController` may be of another realm than `Request`. On
 * Node 24, the constructor of `Request` then rejects its signals.
 * @throws {PetStoreError} `internal_error` if there is no `Request`
 */
export function buildRequest(input: Request | URL | string, init?: RequestInit): BuiltRequest {
  if (typeof Request === 'undefined')
    throw new PetStoreError(
      'internal_error',
      'This environment has no Request and no Response: in Jest, use the environment jest-fixed-jsdom instead of jsdom.',
    )
  const signal = init?.signal
  // A `Request` is also a valid `init`. Its signal is of the right realm, and a copy of it would
  // lose its getters.
  const isCopyNeeded = signal != null && !(init instanceof Request)
  const isReady = input instanceof Request && init === undefined
  const request = isReady ? input : new Request(input, isCopyNeeded ? { ...init, signal: null } : init)
  return { request, signal: signal ?? request.signal }
}

/**
 * Converts a `Request` to plain values, for `handle`. Use it if your server passes a `Request` and
 * you know the client's address.
 * @example
 * ```ts
 * import { createPetStore, memory, toApiRequest, toResponse } from 'petstore-kit'
 *
 * const petStore = createPetStore(memory())
 * const request = new Request('http://localhost/v1/pets', { headers: { 'cf-connecting-ip': '203.0.113.7' } })
 * const address = request.headers.get('cf-connecting-ip')
 * const response = toResponse(await petStore.handle(toApiRequest(request, address)))
 * console.log(response.status) // 401
 * ```
 */
export function toApiRequest(request: Request, clientAddress?: string | null): ApiRequest {
  return new FetchRequest(request, () => clientAddress ?? undefined)
}

/**
 * Returns the `basePath` of a Next.js app, which `url` contains. Next.js 16 knows it in edge
 * functions and in its proxy.
 */
function nextBasePath(request: Request & { nextUrl?: { readonly basePath?: unknown } }): string | undefined {
  const basePath = request.nextUrl?.basePath
  return typeof basePath === 'string' ? basePath : undefined
}

export class FetchRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  readonly mountPath: string | undefined
  /** True after the response is ready. On Deno, the signal of a `Request` then aborts. */
  isAnswered = false
  protected readonly request: Request
  readonly #readAddress: () => string | undefined
  readonly #signal: AbortSignal | undefined

  /**
   * @param readAddress - returns the client's address
   * @param signal - the signal of the caller, if it is not the one of the `Request`: see
   * {@link buildRequest}
   */
  constructor(request: Request, readAddress: () => string | undefined = () => undefined, signal?: AbortSignal) {
    this.method = request.method
    this.target = request.url
    this.mountPath = nextBasePath(request)
    this.request = request
    this.#readAddress = readAddress
    this.#signal = signal
  }

  get clientAddress(): string | undefined {
    return this.#readAddress()
  }

  get signal(): AbortSignal | undefined {
    return this.#signal ?? this.request.signal
  }

  header(name: string): string | undefined {
    return this.request.headers.get(name) ?? undefined
  }

  /**
   * Ends the read of a body without Content-Length if the client disconnects. Overridden where the
   * runtime ends the read.
   */
  protected get bodySignal(): AbortSignal | undefined {
    return this.#signal ?? this.request.signal
  }

  /**
   * Discards the rest of a body that is too large. Overridden where the runtime has a better way.
   */
  protected discardRest(reader: BodyReader): Promise<void> {
    return readAndDiscard(reader)
  }

  /**
   * Reads a body. Overridden where the runtime itself rejects `arrayBuffer()` if the client
   * disconnects.
   */
  protected wholeBody(): Promise<ArrayBuffer> {
    return bodyUnlessAborted(this.request.arrayBuffer(), this)
  }

  async body(limit: number): Promise<Uint8Array> {
    const { request } = this
    const length = this.header('content-length')
    if (Number(length ?? 0) > limit) throw tooLarge(limit)
    // A body without `getReader` cannot be streamed. Firefox has no `Request.body` at all
    // (https://bugzilla.mozilla.org/show_bug.cgi?id=1387483), and the `body` of some libraries
    // lacks `getReader`.
    if ((length !== undefined || !request.body?.getReader) && !request.bodyUsed) {
      const bytes = await this.#wholeBytes()
      // A framework may pass a Request whose body is longer than its Content-Length.
      if (bytes && bytes.byteLength > limit) throw tooLarge(limit)
      // On Deno, the body of an aborted HTTP/2 upload ends without an error.
      if (bytes && bytes.byteLength < Number(length)) throw new PetStoreError('incomplete_body')
      if (bytes) return bytes
    }
    const { body } = request
    const isRead = request.bodyUsed || body?.locked
    if (isRead && length !== '0')
      throw new PetStoreError(
        'body_already_read',
        'other code has read the body: mount the pet store before it, or pass new Request(request, { body })',
      )
    if (isRead || !body) return new Uint8Array()
    return readBody(body, request.headers, limit, this.bodySignal, (reader) => this.discardRest(reader))
  }

  /**
   * Returns `undefined` if the body must be read as a stream, because `arrayBuffer` is missing or
   * other code has locked the body.
   */
  async #wholeBytes(): Promise<Uint8Array | undefined> {
    const { request } = this
    try {
      return new Uint8Array(await this.wholeBody())
    } catch (cause) {
      if (!request.bodyUsed && request.body?.getReader) return undefined
      throw new PetStoreError('incomplete_body', undefined, { cause })
    }
  }
}

/**
 * Responds to a `Request`, or to a URL as the global `fetch` accepts it. Rejects only if the first
 * argument is invalid.
 */
export interface PetStoreFetch {
  /** Responds to a request. Ignores the other arguments, which Bun, Deno and Workers pass. */
  (request: Request, ...ignored: unknown[]): Promise<Response>
  /** Responds to a request for a URL. */
  (url: URL | string, init?: RequestInit): Promise<Response>
}

/**
 * Returns a `fetch` that converts each `Request` for `respond`, and the response back to a
 * `Response`.
 */
export function fetchThrough(respond: (request: ApiRequest) => Promise<ApiResponse>): PetStoreFetch {
  return async (input: Request | URL | string, init?: unknown) => {
    const isUrl = typeof input === 'string' || input instanceof URL
    const { request, signal } = isUrl ? buildRequest(input, init as RequestInit | undefined) : { request: input }
    if (!request?.headers?.get) throw invalidOption('request', 'a Request, a URL or a string', request)
    return toResponse(await respond(new FetchRequest(request, undefined, signal)))
  }
}

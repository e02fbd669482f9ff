import { PetStoreError } from '../errors.ts'
import { invalidOption } from '../schemas/options.ts'
import { sleep } from '../support/time.ts'
import { bodyUnlessAborted, readAndDiscard, readBody, tooLarge } from './read-body.ts'
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
 * Converts a `Request` to plain values, for `handle`. Use it on a runtime that discards rejected
 * bodies itself, such as Workers. On other servers, use `toFetchHandler`.
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
  #isBodyRead = false
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
   * Discards what is left of the body, after the response. Overridden where the runtime has a better
   * way.
   */
  protected async discardRest(body: ReadableStream<Uint8Array>): Promise<void> {
    await sleep(0)
    await readAndDiscard(body)
  }

  /**
   * Converts the response, and then discards what is left of a rejected body. After a 404, a router
   * may pass the request on to another handler, which reads the body. So waits until the 404 is sent.
   */
  respond(response: ApiResponse): Response {
    this.isAnswered = true
    const body = this.#unreadBody()
    if (!body) return toResponse(response)
    const discard = () => void this.discardRest(body).catch(() => {})
    if (response.status === 404) return whenSent(response, discard)
    discard()
    return toResponse(response)
  }

  #unreadBody(): ReadableStream<Uint8Array> | null | undefined {
    if (this.#isBodyRead || this.method === 'GET' || this.method === 'HEAD') return undefined
    try {
      return this.request.body
    } catch {
      // After the client has disconnected, Deno throws "Request closed".
      return undefined
    }
  }

  /**
   * Reads a body. Overridden where the runtime itself rejects `arrayBuffer()` if the client
   * disconnects.
   */
  protected wholeBody(): Promise<ArrayBuffer> {
    return bodyUnlessAborted(this.request.arrayBuffer(), this)
  }

  async body(limit: number): Promise<Uint8Array> {
    const bytes = await this.#body(limit)
    this.#isBodyRead = true
    return bytes
  }

  async #body(limit: number): Promise<Uint8Array> {
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
    return readBody(body, request.headers, limit, this.bodySignal)
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

/** Converts a response, and calls `onSent` when the host begins to send its body. */
function whenSent(response: ApiResponse, onSent: () => void): Response {
  const bytes = new TextEncoder().encode(response.body)
  const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
    onSent()
    controller.enqueue(bytes)
    controller.close()
  }
  const sent = new Response(new ReadableStream({ pull }, { highWaterMark: 0 }), toResponse(response))
  sent.headers.set('Content-Length', String(bytes.byteLength))
  return sent
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
    const received = new FetchRequest(request, undefined, signal)
    return received.respond(await respond(received))
  }
}

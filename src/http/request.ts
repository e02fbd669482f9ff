import { type ErrorCode, PetStoreError } from '../errors.ts'
import type { CallContext } from '../ports.ts'
import { type BodyReader, bodyUnlessAborted, readAndDiscard, readBody, tooLarge } from './read-body.ts'

/** A request as plain values. The store reads each part only when it needs the part. */
export interface ApiRequest extends CallContext {
  /** The method, as the client sent it. */
  readonly method: string
  /** The request target as the client sent it: path and query, or the absolute form of RFC 9112, section 3.2.2. */
  readonly target: string
  /** The start of the path that a router such as Express has removed: `/shop`. */
  readonly mountPath?: string | undefined
  /** Whether the client has disconnected. Set by adapters that create `signal` only when it is read. @default signal.aborted */
  readonly isAborted?: boolean | undefined
  /**
   * The error with which the adapter has rejected the request, such as `bad_request` for an invalid `Host`. The store responds with
   * it, and neither looks for the key nor counts the request. A wrapper of `handle` must not respond otherwise. @default none
   */
  readonly rejection?: ErrorCode | undefined
  /** Returns a header by its lower-case name. Several values are joined by a comma and a space. */
  header(name: string): string | undefined
  /**
   * Reads the whole body, of at most `limit` bytes.
   * @throws {PetStoreError} `payload_too_large` as soon as the limit is exceeded; `incomplete_body` if the body ends early;
   * `body_already_read` if other code has read the body and its exact bytes are lost
   */
  body(limit: number): Promise<Uint8Array>
}

/** The parts of a request target. `URL` is not used to find them, because `URL` needs the Host header. */
export interface Target {
  /** The path, such as `/shop/v1/pets`, without needless escapes. */
  readonly path: string
  /** The path below the base path, such as `/pets`; empty outside the base path. */
  readonly route: string
  /** The query, without its question mark. */
  readonly query: string
}

export function readTarget({ target, mountPath = '' }: ApiRequest, basePath: string): Target {
  const whole = originForm(target)
  const sentPath = pathOf(whole)
  const path = unescapePath(sentPath)
  const root = unescapePath(mountPath) + basePath
  return { path, route: isBelow(path, root) ? path.slice(root.length) : '', query: whole.slice(sentPath.length + 1) }
}

/** Matches a needless percent escape: of a letter, digit, hyphen, period, underscore or tilde. */
const ESCAPED = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi

/** Paths with more characters keep their escapes: removing escapes takes time, and no operation has such a long path. */
const MAX_ESCAPED_PATH = 2_000

/** Removes needless escapes, because `/%31` and `/1` are the same path (RFC 3986, section 6.2.2.2). */
function unescapePath(path: string): string {
  const isPlain = path.length > MAX_ESCAPED_PATH || !path.includes('%')
  return isPlain ? path : path.replaceAll(ESCAPED, decodeURIComponent)
}

/** Matches a scheme and an authority, such as `http://localhost:3000` (RFC 3986, sections 3.1 and 3.2). */
const ORIGIN = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/

/** Returns the path and query of a target (the origin form of RFC 9112, section 3.2). Removes scheme, host and fragment. */
export function originForm(target: string): string {
  const hash = target.indexOf('#')
  const whole = hash === -1 ? target : target.slice(0, hash)
  return whole.startsWith('/') ? whole : whole.replace(ORIGIN, '')
}

export function pathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

export function isBelow(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/')
}

/**
 * Converts a `Request` to plain values, for `handle`. Use it if your server passes a `Request` and you know the client's address.
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
  return new FetchRequest(request, clientAddress ?? undefined)
}

/** Returns whether a request gets 417 (RFC 9110, section 10.1.1). Servers of Node send 417 themselves; other hosts do not. */
export function hasUnknownExpectation(request: ApiRequest): boolean {
  const expected = request.header('expect')
  return expected !== undefined && expected.toLowerCase() !== '100-continue'
}

export function isAborted(request: ApiRequest): boolean {
  return request.isAborted ?? request.signal?.aborted ?? false
}

/** Returns the `basePath` of a Next.js app, which `url` contains. Next.js 16 knows it in edge functions and in its proxy. */
function nextBasePath(request: Request & { nextUrl?: { readonly basePath?: unknown } }): string | undefined {
  const basePath = request.nextUrl?.basePath
  return typeof basePath === 'string' ? basePath : undefined
}

export class FetchRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  readonly mountPath: string | undefined
  protected readonly request: Request
  readonly #clientAddress: string | undefined
  readonly #signal: AbortSignal | undefined

  /** @param signal - the signal of the caller, if it is not the one of the `Request`: see {@link buildRequest} */
  constructor(request: Request, clientAddress?: string, signal?: AbortSignal) {
    this.method = request.method
    this.target = request.url
    this.mountPath = nextBasePath(request)
    this.request = request
    this.#clientAddress = clientAddress
    this.#signal = signal
  }

  get clientAddress(): string | undefined {
    return this.#clientAddress
  }

  get signal(): AbortSignal | undefined {
    return this.#signal ?? this.request.signal
  }

  header(name: string): string | undefined {
    return this.request.headers.get(name) ?? undefined
  }

  /** Ends the read of a body without Content-Length if the client disconnects. Overridden where the runtime ends the read. */
  protected get bodySignal(): AbortSignal | undefined {
    return this.#signal ?? this.request.signal
  }

  /** Discards the rest of a body that is too large. Overridden where the runtime has a better way. */
  protected discardRest(reader: BodyReader): Promise<void> {
    return readAndDiscard(reader)
  }

  /** Reads a body. Overridden where the runtime itself rejects `arrayBuffer()` if the client disconnects. */
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

  /** Returns `undefined` if the body must be read as a stream, because `arrayBuffer` is missing or other code has locked the body. */
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

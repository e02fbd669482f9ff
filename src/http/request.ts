import { PetStoreError } from '../errors.ts'
import type { CallContext } from '../ports.ts'
import { type BodyReader, readAndDiscard, readBody, tooLarge, untilAborted } from './read-body.ts'

/** A request as plain values. Each part is read only when it is needed. */
export interface ApiRequest extends CallContext {
  /** The method, as the client sent it. */
  readonly method: string
  /** The request target as the client sent it: path and query, or the absolute form of RFC 9112, section 3.2.2. */
  readonly target: string
  /** The start of the path that a router, such as that of Express, has already matched: `/shop`. */
  readonly mountPath?: string | undefined
  /** Whether the client has disconnected. An adapter sets it if reading `signal` has a side effect. @default signal.aborted */
  readonly isAborted?: boolean | undefined
  /** Returns the value of a header by its lower-case name. Several values are joined by a comma and a space. */
  header(name: string): string | undefined
  /**
   * Reads the whole body.
   *
   * @param limit - the largest body, in bytes
   * @throws {PetStoreError} `payload_too_large` as soon as the limit is exceeded; `incomplete_body` if the body ends early;
   * `body_already_read` if other code has read the body and its exact bytes are lost
   */
  body(limit: number): Promise<Uint8Array>
}

/** The parts of a request target. The parts are found without a URL object, which would need the Host header. */
export interface Target {
  /** The path, such as `/shop/v1/pets`. Characters that need no escape are not escaped. */
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

/** Matches an escaped letter, digit, hyphen, period, underscore or tilde. */
const ESCAPED = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi

/** The longest path whose escapes are removed, in characters. The time grows with the path, and no operation has a longer one. */
const MAX_ESCAPED_PATH = 2_000

/** Removes needless escapes, because `/%31` and `/1` are the same path (RFC 3986, section 6.2.2.2). */
function unescapePath(path: string): string {
  const isPlain = path.length > MAX_ESCAPED_PATH || !path.includes('%')
  return isPlain ? path : path.replaceAll(ESCAPED, decodeURIComponent)
}

/** Matches a scheme and an authority, such as `http://localhost:3000` (RFC 3986, sections 3.1 and 3.2). */
const ORIGIN = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/

/** Returns the path and query of a target (RFC 9112, section 3.2: origin form). Removes scheme, authority and fragment. */
export function originForm(target: string): string {
  const hash = target.indexOf('#')
  const whole = hash === -1 ? target : target.slice(0, hash)
  return whole.startsWith('/') ? whole : whole.replace(ORIGIN, '')
}

/** Returns the path of a target that has no scheme and authority. */
export function pathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

export function isBelow(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/')
}

/**
 * Converts a `Request` to plain values, without copying it.
 *
 * Use this function if your server passes a `Request` and you know the client's address.
 *
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

/**
 * Returns whether the client expects something that no host supports (RFC 9110, section 10.1.1). Node's servers respond with 417
 * before the store sees such a request, so every host responds with 417.
 */
export function hasUnknownExpectation(request: ApiRequest): boolean {
  const expected = request.header('expect')
  return expected !== undefined && expected.toLowerCase() !== '100-continue'
}

export function isAborted(request: ApiRequest): boolean {
  return request.isAborted ?? request.signal?.aborted ?? false
}

/** A `Request` as plain values. */
export class FetchRequest implements ApiRequest {
  readonly method: string
  readonly target: string
  protected readonly request: Request
  readonly #clientAddress: string | undefined

  constructor(request: Request, clientAddress?: string) {
    this.method = request.method
    this.target = request.url
    this.request = request
    this.#clientAddress = clientAddress
  }

  get clientAddress(): string | undefined {
    return this.#clientAddress
  }

  get signal(): AbortSignal | undefined {
    return this.request.signal
  }

  header(name: string): string | undefined {
    return this.request.headers.get(name) ?? undefined
  }

  /** The signal that ends the read of a body without Content-Length. An adapter overrides it if its runtime ends the read. */
  protected get bodySignal(): AbortSignal | undefined {
    return this.request.signal
  }

  /** Discards the rest of a body that exceeds the limit. An adapter overrides this method if its runtime has a better way. */
  protected discardRest(reader: BodyReader): Promise<void> {
    return readAndDiscard(reader)
  }

  /** Reads the whole body. An adapter overrides this method if its runtime ends the read when the client disconnects. */
  protected wholeBody(): Promise<ArrayBuffer> {
    return untilAborted(this.request.arrayBuffer(), this.request)
  }

  async body(limit: number): Promise<Uint8Array> {
    const { request } = this
    const length = this.header('content-length')
    if (Number(length ?? 0) > limit) throw tooLarge(limit)
    if (length !== undefined && !request.bodyUsed) {
      const bytes = await this.#wholeBytes()
      // A router may pass a Request of its own with a larger body than Content-Length says.
      if (bytes && bytes.byteLength > limit) throw tooLarge(limit)
      // On Deno, the body of an aborted HTTP/2 upload ends without an error.
      if (bytes && bytes.byteLength < Number(length)) throw new PetStoreError('incomplete_body')
      if (bytes) return bytes
    }
    const isRead = request.bodyUsed || request.body?.locked
    if (isRead && length !== '0')
      throw new PetStoreError(
        'body_already_read',
        'other code has read the body: mount the pet store before it, or pass new Request(request, { body })',
      )
    return isRead || request.body === null
      ? new Uint8Array()
      : readBody(request, limit, this.bodySignal, (reader) => this.discardRest(reader))
  }

  /**
   * Reads the body in one call, because Hono on Node creates a whole second `Request` if `body` is read. Returns `undefined` if
   * another reader has locked the body.
   */
  async #wholeBytes(): Promise<Uint8Array | undefined> {
    const { request } = this
    try {
      return new Uint8Array(await this.wholeBody())
    } catch (cause) {
      if (!request.bodyUsed) return undefined
      throw new PetStoreError('incomplete_body', undefined, { cause })
    }
  }
}

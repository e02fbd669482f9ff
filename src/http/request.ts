import type { ApiKey } from '../model.ts'
import type { OperationName } from '../operations.ts'
import type { CallContext } from '../ports.ts'
import { trimEndOf } from '../support/text.ts'

/** A request as plain values. The store reads each part only when it needs the part. */
export interface ApiRequest extends Pick<CallContext, 'signal' | 'clientAddress'> {
  /** The method, as the client sent it. */
  readonly method: string
  /**
   * The request target as the client sent it: path and query, or the absolute form of RFC 9112,
   * section 3.2.2.
   */
  readonly target: string
  /**
   * The mount path: the part of the path before the base path, such as `/shop`. A router or the host
   * has already matched it.
   * @default ''
   */
  readonly mountPath?: string | undefined
  /** Returns a header by its lower-case name. Several values are joined by a comma and a space. */
  header(name: string): string | undefined
  /**
   * Reads the whole body, of at most `limit` bytes.
   * @throws {PetStoreError} `payload_too_large` as soon as the limit is exceeded; `incomplete_body`
   * if the body ends early; `body_already_read` if other code has read the body and its exact bytes
   * are lost
   */
  body(limit: number): Promise<Uint8Array>
}

/**
 * Tells a port about its request. A class with a getter, because most ports do not read the signal, and
 * some adapters create it only when it is read.
 */
export class RequestCall implements CallContext {
  readonly clientAddress: string | undefined
  readonly operation: OperationName | undefined
  readonly key: ApiKey | undefined
  readonly #request: ApiRequest

  constructor(
    request: ApiRequest,
    clientAddress: string | undefined,
    operation: OperationName | undefined,
    key?: ApiKey | undefined,
  ) {
    this.#request = request
    this.clientAddress = clientAddress
    this.operation = operation
    this.key = key
  }

  get signal(): AbortSignal | undefined {
    return this.#request.signal
  }
}

/**
 * Returns a request that does the same as `request`, with `members` in place of its own. A copy,
 * `{ ...request }`, would lose the methods of an adapter's request, its address and its signal.
 * @example
 * ```ts
 * import { type ApiRequest, createPetStore, wrapRequest } from 'petstore-kit'
 *
 * const petStore = createPetStore()
 * const ofShop = {
 *   ...petStore,
 *   handle: (request: ApiRequest) => petStore.handle(wrapRequest(request, { mountPath: '/shop' })),
 * }
 * ```
 */
export function wrapRequest(request: ApiRequest, members: Partial<ApiRequest>): ApiRequest {
  return new Proxy({} as ApiRequest, {
    get(_, name) {
      if (Object.hasOwn(members, name)) return Reflect.get(members, name)
      const value: unknown = Reflect.get(request, name)
      return typeof value === 'function' ? value.bind(request) : value
    },
  })
}

/**
 * The parts of a request target. `URL` is not used to find them, because `URL` needs the Host
 * header.
 */
export interface Target {
  /** The path, such as `/shop/v1/pets`, without needless escapes. */
  readonly path: string
  /**
   * The path below the base path, such as `/pets`; empty outside the base path; `*` for the whole
   * server, as in `OPTIONS *`.
   */
  readonly route: string
  /** The query, without its question mark. */
  readonly query: string
}

export function readTarget({ target, mountPath = '' }: ApiRequest, basePath: string): Target {
  const whole = originForm(target)
  const sentPath = pathOf(whole)
  const path = unescapePath(sentPath)
  const root = unescapePath(mountPath) + basePath
  const route = isBelow(path, root) ? path.slice(root.length) : ''
  return { path, route: isWholeServer(path) ? '*' : route, query: whole.slice(sentPath.length + 1) }
}

/**
 * Returns whether the target is the asterisk form (RFC 9112, section 3.2.4). Deno and srvx put it
 * into the URL of a `Request` as `/*`.
 */
function isWholeServer(path: string): boolean {
  return path === '*' || path === '/*'
}

/** Matches a needless percent escape: of a letter, digit, hyphen, period, underscore or tilde. */
const ESCAPED = /%(?:2[de]|3\d|[46][1-9a-f]|[57][\da]|5f|7e)/gi

/**
 * Paths with more characters keep their escapes: removing escapes takes time, and no operation has
 * such a long path.
 */
const MAX_ESCAPED_PATH = 2_000

/**
 * Removes needless escapes, because `/%31` and `/1` are the same path (RFC 3986, section 6.2.2.2).
 */
function unescapePath(path: string): string {
  const isPlain = path.length > MAX_ESCAPED_PATH || !path.includes('%')
  return isPlain ? path : path.replaceAll(ESCAPED, decodeURIComponent)
}

/**
 * Matches a scheme and an authority, such as `http://localhost:3000` (RFC 3986, sections 3.1 and
 * 3.2).
 */
const ORIGIN = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/

/**
 * Returns the path and query of a target (the origin form of RFC 9112, section 3.2). Removes
 * scheme, host and fragment.
 */
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
 * Returns whether a request gets 417 (RFC 9110, section 10.1.1). Servers of Node send 417
 * themselves; other hosts do not.
 */
export function hasUnknownExpectation(request: ApiRequest): boolean {
  const expected = request.header('expect')
  return expected !== undefined && listMembers(expected).some((member) => member.toLowerCase() !== '100-continue')
}

/** Returns the members of a header that is a list, without empty ones (RFC 9110, section 5.6.1.2). */
export function listMembers(header: string): string[] {
  return header
    .split(',')
    .map((member) => member.trim())
    .filter((member) => member !== '')
}

/** A request of an adapter that creates `signal` only when it is read, as on Deno. */
export interface LazyRequest extends ApiRequest {
  /** Whether the client has disconnected. */
  readonly isAborted?: boolean
}

export function isAborted(request: LazyRequest): boolean {
  return request.isAborted ?? request.signal?.aborted ?? false
}

/** Returns the first part of every link: the path or URL of the API as the client sees it. */
export type LinkBase = (target: Target) => string

/**
 * Links begin with `publicUrl`, or else with the requested path. They never use the Host header,
 * which the client controls.
 */
export function linkBaseOf(basePath: string, publicUrl: string | undefined): LinkBase {
  const requested: LinkBase = ({ path, route }) => escapePath(path.slice(0, path.length - route.length))
  if (publicUrl === undefined) return requested
  const { origin, pathname } = new URL(publicUrl)
  const prefix = trimEndOf(pathname, '/')
  if (prefix === '') return (target) => origin + requested(target)
  const address = origin + (prefix.endsWith(basePath) ? prefix : prefix + basePath)
  return () => address
}

const PLAIN_PATH = /^(?:\/[\w\-.~]+)*$/

/**
 * Escapes a requested path for a link: `>` would end the link, and a client would read the start of
 * `//shop/pets` as a host.
 */
function escapePath(path: string): string {
  if (PLAIN_PATH.test(path)) return path
  return encodeURI(path.replace(/^\/+/, '/').toWellFormed()).replaceAll('%25', '%')
}

import type { ApiRequest } from './request.ts'

/** The parts of a request target. The parts are found without a URL object, which would need the Host header. */
export interface Target {
  /** The path as the client sent it, such as `/shop/v1/pets`. */
  readonly path: string
  /** The path below the base path, such as `/pets`; empty outside the base path. */
  readonly route: string
  /** The query, without its question mark. */
  readonly query: string
}

/** Splits the target of a request. */
export function readTarget({ target, mountPath = '' }: ApiRequest, basePath: string): Target {
  const whole = originForm(target)
  const path = pathOf(whole)
  const root = mountPath + basePath
  return { path, route: isBelow(path, root) ? path.slice(root.length) : '', query: whole.slice(path.length + 1) }
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

/** Returns whether a path is the root itself or below it. */
export function isBelow(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path[root.length] === '/')
}

import type { ApiRequest } from './exchange.ts'

/** The parts of a request target, read without a URL object: the Host header plays no part. */
export interface Target {
  /** The path as the client sent it, such as `/shop/v1/pets`. */
  readonly path: string
  /** The path below the base path, such as `/pets`; empty outside of it. */
  readonly route: string
  /** The query, without its question mark. */
  readonly query: string
}

/** Splits a target. */
export function readTarget({ target, mountPath = '' }: ApiRequest, basePath: string): Target {
  const whole = originForm(target)
  const path = pathOf(whole)
  const root = mountPath + basePath
  return { path, route: isBelow(path, root) ? path.slice(root.length) : '', query: whole.slice(path.length + 1) }
}

/** A target in origin form, without a fragment, whether it came so or in absolute form (RFC 9112, section 3.2). */
export function originForm(target: string): string {
  const start = target.charCodeAt(0) === 0x2f ? 0 : authorityEnd(target)
  const hash = target.indexOf('#', start)
  return target.slice(start, hash === -1 ? target.length : hash)
}

/** The path of a target in origin form. */
export function pathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** Whether a path is the root itself or below it. */
export function isBelow(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path.charCodeAt(root.length) === 0x2f)
}

const ABSOLUTE = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//

/** Where the path of an absolute target begins, or its end where it has none. */
function authorityEnd(target: string): number {
  if (!ABSOLUTE.test(target)) return 0
  let end = target.indexOf('://') + 3
  while (end < target.length && !endsAuthority(target.charCodeAt(end))) end++
  return end
}

/** A slash, a question mark or a number sign (RFC 3986, section 3.2). */
function endsAuthority(code: number): boolean {
  return code === 0x2f || code === 0x3f || code === 0x23
}

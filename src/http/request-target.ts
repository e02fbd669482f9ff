import type { PetQuery } from '../ports.ts'
import { ownText } from '../support/own-text.ts'
import type { ApiRequest } from './request.ts'

/** The parts of a request target, read without a URL object: the Host header plays no part. */
export interface Target {
  /** The leading part of the path that a router of the host has matched. */
  readonly mountPath: string
  /** The path as the client sent it, such as `/shop/v1/pets`. */
  readonly path: string
  /** The path below the base path, such as `/pets`; empty outside of it. */
  readonly route: string
  /** The query, without its question mark. */
  readonly query: string
  /** Whether this very object is given for the same target again, so that something may be remembered for it. */
  readonly isRemembered: boolean
  /** What the query asks of listPets, once it was read. */
  page: PetQuery | undefined
}

const REMEMBERED = 1_000
const LONGEST = 512

/** Reads the target of a request. */
export type TargetReader = (request: ApiRequest) => Target

/**
 * Makes a reader of request targets, which remembers what it made of those that are asked for again and again. The
 * addresses of single animals are not among them.
 */
export function targetReader(basePath: string): TargetReader {
  const known = new Map<string, Target>()
  const split = (target: string, mountPath: string, isRemembered: boolean): Target => {
    const whole = originForm(target)
    const path = pathOf(whole)
    const root = mountPath + basePath
    const route = isBelow(path, root) ? path.slice(root.length) : ''
    return { mountPath, path, route, query: whole.slice(path.length + 1), isRemembered, page: undefined }
  }
  return ({ target, mountPath = '' }) => {
    const isShort = target.length <= LONGEST
    const seen = isShort ? known.get(target) : undefined
    if (seen?.mountPath === mountPath) return seen
    const read = split(target, mountPath, false)
    if (!isShort || read.route !== '/pets') return read
    const text = ownText(target)
    const own = split(text, ownText(mountPath), true)
    // Those that are asked for again and again are soon back.
    if (known.size >= REMEMBERED) known.clear()
    known.set(text, own)
    return own
  }
}

/** A target in origin form, without a fragment, whether it came so or in absolute form (RFC 9112, section 3.2). */
export function originForm(target: string): string {
  const hash = target.indexOf('#')
  const whole = hash === -1 ? target : target.slice(0, hash)
  return whole.charCodeAt(0) === 0x2f ? whole : whole.replace(ORIGIN, '')
}

/** A scheme and an authority (RFC 3986, sections 3.1 and 3.2). */
const ORIGIN = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/[^/?]*/

/** The path of a target in origin form. */
export function pathOf(target: string): string {
  const mark = target.indexOf('?')
  return mark === -1 ? target : target.slice(0, mark)
}

/** Whether a path is the root itself or below it. */
export function isBelow(path: string, root: string): boolean {
  return path.startsWith(root) && (path.length === root.length || path.charCodeAt(root.length) === 0x2f)
}

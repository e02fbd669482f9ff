import { isBelow, originForm, pathOf } from '../../../src/http/request-target.ts'
import type { NodeIncoming } from './types.ts'

/** Where a request stands: its whole target, and the part of the path that a router of the host has matched. */
export interface Place {
  readonly target: string
  readonly mountPath: string
}

/**
 * Where a request stands below a base path; `undefined` where it is not for the store. A router that has matched a prefix
 * leaves the rest in `url`; the base path may begin below the prefix, at its end, or take it in.
 */
export function findPlace(incoming: NodeIncoming, basePath: string): Place | undefined {
  const rest = originForm(incoming.url ?? '/')
  const path = pathOf(rest)
  const matched = matchedPath(incoming, rest)
  if (isBelow(path, basePath)) return { target: matched + rest, mountPath: matched }
  const target = wholeTarget(incoming, matched, rest)
  const taken = beforeWildcard(incoming, pathOf(target))
  const mounts = [withoutOverlap(matched, basePath), '', taken, taken && withoutOverlap(taken, basePath)]
  const mountPath = mounts.find(
    // Two slashes behind a prefix are another path.
    (mount) => mount?.endsWith('/') === false && isBelow(pathOf(target).slice(mount.length), basePath),
  )
  if (mountPath !== undefined) return { target, mountPath }
  // A router of another make than Express says nothing of what it has matched.
  const original = incoming.baseUrl === undefined ? originForm(incoming.originalUrl ?? '') : ''
  return isBelow(pathOf(original), basePath) ? { target: original, mountPath: '' } : undefined
}

/** What routers have matched of the path. The host may have rewritten the rest: links name what it made of that. */
export function matchedPath(incoming: NodeIncoming, rest: string): string {
  const { baseUrl } = incoming
  if (baseUrl !== undefined) return baseUrl
  const { originalUrl } = incoming
  if (originalUrl === undefined) return ''
  const [path, end] = [pathOf(originForm(originalUrl)), pathOf(rest)]
  return path.endsWith(end) ? path.slice(0, -end.length) : ''
}

/** The end of a prefix with which the base path begins, such as `/v1` of `/shop/v1` and `/v1`. */
export function overlap(prefix: string, basePath: string): string {
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1))
    if (isBelow(basePath, prefix.slice(at))) return prefix.slice(at)
  return ''
}

/** A prefix as far as the base path is not named in it already. */
function withoutOverlap(prefix: string, basePath: string): string {
  return prefix.slice(0, prefix.length - overlap(prefix, basePath).length)
}

/** Where all of the path is matched, Express leaves a slash that the client may not have sent. */
function wholeTarget({ originalUrl = '' }: NodeIncoming, matched: string, rest: string): string {
  const isAdded = pathOf(rest) === '/' && pathOf(originForm(originalUrl)) === matched
  return matched + (isAdded ? rest.slice(1) : rest)
}

/**
 * The part of a path that stands before what the wildcard of a route took in, which is told without its escapes: a list of
 * segments, or in Express 4 their text.
 */
function beforeWildcard({ params = {} }: NodeIncoming, path: string): string | undefined {
  const tail = Object.values(params).find(Array.isArray)?.join('/') ?? String(params[0] ?? '')
  let left = tail.split('/').filter(Boolean).length
  if (left === 0) return undefined
  const segments = path.split('/')
  while (left > 0 && segments.length > 0) left -= (segments.pop() as string).split(/%2f/i).filter(Boolean).length
  return left === 0 ? segments.join('/') : undefined
}

import { isBelow, originForm, pathOf } from '../../../src/http/request-target.ts'
import type { NodeIncoming } from './types.ts'

/** The place of a request: its whole target, and the part of the path that a router of the host has matched. */
export interface Place {
  readonly target: string
  readonly mountPath: string
}

/**
 * Returns the place of a request below a base path, or `undefined` if the request is not for the store. A router that has
 * matched a prefix leaves the rest in `url`. The base path may begin behind the prefix, at its end, or contain it.
 */
export function findPlace(incoming: NodeIncoming, basePath: string): Place | undefined {
  const rest = originForm(incoming.url ?? '/')
  const matched = matchedPath(incoming, rest)
  if (isBelow(pathOf(rest), basePath)) return { target: matched + rest, mountPath: matched }
  const target = wholeTarget(incoming, matched, rest)
  const mountPath = [withoutOverlap(matched, basePath), ''].find((mount) =>
    isBelow(pathOf(target).slice(mount.length), basePath),
  )
  return mountPath === undefined ? undefined : { target, mountPath }
}

/** Returns the part of the path that routers have matched. The host may have rewritten the rest. */
export function matchedPath({ baseUrl, originalUrl }: NodeIncoming, rest: string): string {
  if (baseUrl !== undefined) return baseUrl
  if (originalUrl === undefined) return ''
  const [path, end] = [pathOf(originForm(originalUrl)), pathOf(rest)]
  return path.endsWith(end) ? path.slice(0, -end.length) : ''
}

/** Returns the end of a prefix with which the base path begins, such as `/v1` of `/shop/v1` and `/v1`. */
export function overlap(prefix: string, basePath: string): string {
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1))
    if (isBelow(basePath, prefix.slice(at))) return prefix.slice(at)
  return ''
}

function withoutOverlap(prefix: string, basePath: string): string {
  return prefix.slice(0, prefix.length - overlap(prefix, basePath).length)
}

/** If the whole path is matched, Express leaves a slash in `url` that the client may not have sent. */
function wholeTarget({ originalUrl = '' }: NodeIncoming, matched: string, rest: string): string {
  const isAdded = pathOf(rest) === '/' && pathOf(originForm(originalUrl)) === matched
  return matched + (isAdded ? rest.slice(1) : rest)
}

import { isBelow, originForm, pathOf } from '../../../src/http/request.ts'
import type { NodeIncoming } from './types.ts'

export interface MountedTarget {
  /** The whole target, including the mount path. */
  readonly target: string
  /** The beginning of the path that a router has matched, such as `/shop`. The base path follows it. */
  readonly mountPath: string
}

/**
 * Returns `undefined` if the path is outside the base path. `url` lacks the prefix that a router has matched. For the
 * base path `/api/v1`, this prefix can be `/shop`, but also `/api` or `/shop/api`, which end with a part of the base path.
 */
export function findMountedTarget(incoming: NodeIncoming, basePath: string): MountedTarget | undefined {
  const rest = originForm(incoming.url ?? '/')
  const matched = matchedPath(incoming, rest)
  if (isBelow(pathOf(rest), basePath)) return { target: matched + rest, mountPath: matched }
  // If a router matches the whole path, Express sets `url` to `/`. The slash is removed if the client did not send it.
  const isAdded = pathOf(rest) === '/' && pathOf(originForm(incoming.originalUrl ?? '')) === matched
  const target = matched + (isAdded ? rest.slice(1) : rest)
  const outside = matched.slice(0, matched.length - overlap(matched, basePath).length)
  const mountPath = [outside, ''].find((mount) => isBelow(pathOf(target).slice(mount.length), basePath))
  return mountPath === undefined ? undefined : { target, mountPath }
}

/** Returns the part of the path that routers have matched; '' if it is unknown because other code has rewritten `url`. */
export function matchedPath({ url, baseUrl, originalUrl }: NodeIncoming, rest: string): string {
  // In node-mocks-http, `baseUrl` is the whole path, although no router has removed anything from `url`.
  if (baseUrl !== undefined && url !== originalUrl) return baseUrl
  if (originalUrl === undefined) return ''
  const [path, end] = [pathOf(originForm(originalUrl)), pathOf(rest)]
  return path.endsWith(end) ? path.slice(0, -end.length) : ''
}

/** Returns the end of the prefix that is also the start of the base path: `/v1` for `/shop/v1` and the base path `/v1/a`. */
export function overlap(prefix: string, basePath: string): string {
  for (let at = prefix.indexOf('/'); at !== -1; at = prefix.indexOf('/', at + 1))
    if (isBelow(basePath, prefix.slice(at))) return prefix.slice(at)
  return ''
}

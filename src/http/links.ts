import type { Target } from './request.ts'

/** Returns where links begin: with the path or URL of the API as the client sees it. */
export type LinkBase = (target: Target) => string

/** Returns a {@link LinkBase} that uses `publicUrl`, or else the path that the client requested. The Host header is never used. */
export function linkBaseOf(basePath: string, publicUrl: string | undefined): LinkBase {
  const requested: LinkBase = ({ path, route }) => escapePath(path.slice(0, path.length - route.length))
  if (publicUrl === undefined) return requested
  const { origin, pathname } = new URL(publicUrl)
  const prefix = pathname.replace(/\/+$/, '')
  if (prefix === '') return (target) => origin + requested(target)
  const address = origin + (prefix.endsWith(basePath) ? prefix : prefix + basePath)
  return () => address
}

/** Matches a path that needs no escaping, as most paths do. */
const PLAIN_PATH = /^(?:\/[\w\-.~]+)*$/

/** Escapes the start of a link. A mount path may contain `>`, which ends a link, or begin with `//`, which names another host. */
function escapePath(path: string): string {
  if (PLAIN_PATH.test(path)) return path
  return encodeURI(path.replace(/^\/+/, '/').toWellFormed()).replaceAll('%25', '%')
}

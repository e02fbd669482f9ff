import type { Target } from '../http/request-target.ts'

/** Turns a path that a client asked for into the target of a Link. */
export type LinkBase = (target: Pick<Target, 'path' | 'route'>) => string

/**
 * Where links begin: the client's own path down to the base path, or the public address where the host has named one.
 * The Host header plays no part.
 */
export function linkBase(basePath: string, publicUrl: string | undefined): LinkBase {
  const own: LinkBase = ({ path, route }) => escapePath(path.slice(0, path.length - route.length))
  if (publicUrl === undefined) return own
  const { origin, pathname } = new URL(publicUrl)
  const prefix = pathname.replace(/\/+$/, '')
  if (prefix === '') return (target) => origin + own(target)
  const address = origin + (prefix.endsWith(basePath) ? prefix : prefix + basePath)
  return () => address
}

/** A prefix that a host's router matched may hold characters that end a link, or slashes that make it name a host. */
function escapePath(path: string): string {
  return encodeURI(path.replace(/^\/+/, '/').toWellFormed()).replaceAll('%25', '%')
}

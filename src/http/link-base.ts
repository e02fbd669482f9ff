import { trimEndOf } from '../support/trim-end.ts'
import type { Target } from './request.ts'

/** Returns the first part of every link: the path or URL of the API as the client sees it. */
export type LinkBase = (target: Target) => string

/** Links begin with `publicUrl`, or else with the requested path. They never use the Host header, which the client controls. */
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

/** Escapes a requested path for a link: `>` would end the link, and a client would read the start of `//shop/pets` as a host. */
function escapePath(path: string): string {
  if (PLAIN_PATH.test(path)) return path
  return encodeURI(path.replace(/^\/+/, '/').toWellFormed()).replaceAll('%25', '%')
}

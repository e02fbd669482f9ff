import { PetStoreError } from '../errors.ts'
import type { Target } from '../http/request-target.ts'
import type { PetQuery } from '../ports.ts'
import { describe } from '../support/describe-value.ts'
import { encodeCursor } from './cursor.ts'
import { DEFAULT_LIMIT, listQuerySchema, problemsOf } from './schemas.ts'

/**
 * Reads the query of listPets. Unknown parameters are ignored.
 *
 * @throws {PetStoreError} `invalid_parameter`, with each wrong parameter, what was expected and what was received
 */
export function parsePageQuery(parameters: URLSearchParams): PetQuery {
  if (parameters.size === 0) return { limit: DEFAULT_LIMIT }
  const input: Record<string, string | readonly string[]> = {}
  for (const name of Object.keys(listQuerySchema.shape)) {
    const values = parameters.getAll(name)
    // A repeated parameter is passed on as an array, which the schema rejects.
    if (values.length > 0) input[name] = values.length === 1 ? (values[0] as string) : values
  }
  const result = listQuerySchema.safeParse(input)
  if (result.success) return { limit: result.data.limit, status: result.data.status, after: result.data.cursor }
  throw new PetStoreError(
    'invalid_parameter',
    `The query is not valid: ${problemsOf(result.error, input, describeValues)}.`,
  )
}

function describeValues(value: unknown): string {
  return Array.isArray(value) ? `${value.length} values` : describe(value)
}

/** Returns the headers for the next page, which begins after the animal `last`: `Link` (RFC 8288) and `X-Next-Cursor`. */
export function nextPageHeaders(url: string, parameters: URLSearchParams, last: bigint): string[] {
  const cursor = encodeCursor(last)
  let kept = ''
  for (const name of ['limit', 'status']) if (parameters.has(name)) kept += `${name}=${parameters.get(name)}&`
  return ['Link', `<${url}?${kept}cursor=${cursor}>; rel="next"`, 'X-Next-Cursor', cursor]
}

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

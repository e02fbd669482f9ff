import { PetStoreError } from '../errors.ts'
import type { Target } from '../http/request-target.ts'
import type { PetQuery } from '../ports.ts'
import { boundedMap } from '../support/bounded-map.ts'
import { describe } from '../support/describe-value.ts'
import { listQuerySchema, problemsOf } from './schemas.ts'

/** How many queries are cached. */
const MAX_QUERIES = 1_000
/** The longest query that is cached, in UTF-16 code units. */
const MAX_LENGTH = 100

/** The query of listPets. */
export interface PageQuery extends PetQuery {
  /** The parameters that the link to the next page repeats, such as `limit=5&`. */
  readonly kept: string
}

/** Reads the query of listPets. @throws {PetStoreError} `invalid_parameter` */
export type ReadPageQuery = typeof parsePageQuery

/** Returns a function that reads queries, and caches recent ones, because most clients send the same few queries. */
export function pageQueryReader(): ReadPageQuery {
  const cached = boundedMap<PageQuery>(MAX_QUERIES)
  return (query) => {
    const known = cached.get(query)
    if (known) return known
    const parsed = parsePageQuery(query)
    if (query.length <= MAX_LENGTH) cached.set(query, parsed)
    return parsed
  }
}

/**
 * Reads the query of listPets. Unknown parameters are ignored.
 *
 * @throws {PetStoreError} `invalid_parameter`, with each wrong parameter, what was expected and what was received
 */
export function parsePageQuery(query: string): PageQuery {
  // Adds a `?`, because `URLSearchParams` removes the first `?`, and the query itself may begin with `?`.
  const parameters = new URLSearchParams(`?${query}`)
  const input: Record<string, string | readonly string[]> = {}
  for (const name of Object.keys(listQuerySchema.shape)) {
    const values = parameters.getAll(name)
    // A repeated parameter is passed on as an array, which the schema rejects.
    if (values.length > 0) input[name] = values.length === 1 ? (values[0] as string) : values
  }
  const result = listQuerySchema.safeParse(input)
  if (result.success) {
    const { limit, status, cursor } = result.data
    const kept = (input.limit ? `limit=${limit}&` : '') + (status ? `status=${status}&` : '')
    return { limit, status, after: cursor, kept }
  }
  throw new PetStoreError(
    'invalid_parameter',
    `The query is not valid: ${problemsOf(result.error, input, describeValues)}.`,
  )
}

function describeValues(value: unknown): string {
  return Array.isArray(value) ? `${value.length} values` : describe(value)
}

/** Returns the headers for the next page: `Link` (RFC 8288) and `X-Next-Cursor`. @param kept - see {@link PageQuery} */
export function nextPageHeaders(url: string, kept: string, cursor: string): string[] {
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

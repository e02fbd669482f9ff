import * as z from 'zod/mini'
import { PetStoreError } from '../errors.ts'
import type { Target } from '../http/request.ts'
import { type Pet, parseInt64 } from '../model.ts'
import type { PetQuery } from '../ports.ts'
import { describe } from '../support/describe-value.ts'
import { writePets } from './json.ts'
import { problemsOf, statusSchema } from './schemas.ts'

/** The number of animals on a page if the client does not send `limit`. */
export const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100
const CURSOR = 'a cursor from an earlier page'

/** Returns the schema of a query parameter that limits the number of results. */
export function limitSchema(maximum: number, defaultLimit: number) {
  const error = `a whole number from 1 to ${maximum}`
  const digits = z.string(error).check(z.regex(/^[1-9]\d*$/, error))
  const inRange = z.int(error).check(z.minimum(1, error), z.maximum(maximum, error))
  return z._default(z.pipe(z.pipe(digits, z.transform(Number)), inRange), defaultLimit)
}

/** The schema of the query of listPets. Each parameter is a text. */
export const listQuerySchema = z.object({
  limit: limitSchema(MAX_LIMIT, DEFAULT_LIMIT),
  status: z.optional(statusSchema),
  cursor: z.optional(
    z.pipe(
      z.string(CURSOR),
      z.transform((text, { issues }) => {
        const after = decodeCursor(text)
        if (after === undefined) issues.push({ code: 'custom', input: text, message: CURSOR })
        return after
      }),
    ),
  ),
})

/** The query of listPets. */
export interface PageQuery extends PetQuery {
  /** The parameters that the link to the next page repeats, such as `limit=5&`. */
  readonly kept: string
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
  const problems = problemsOf(result.error, input, describeValues)
  throw new PetStoreError('invalid_parameter', `The query is not valid: ${problems}.`)
}

function describeValues(value: unknown): string {
  return Array.isArray(value) ? `${value.length} values` : describe(value)
}

/** The largest size of the cache, in UTF-16 code units. */
const MAX_SIZE = 1_048_576
/** The size of a cached query besides its page, in UTF-16 code units. */
const QUERY_SIZE = 500
/** The longest query that is cached, in UTF-16 code units. */
const MAX_LENGTH = 100

/** A page of animals, as it is sent. */
interface WrittenPage {
  readonly text: string
  /** The headers for the next page, if there is one. */
  readonly headers: readonly string[]
}

/** A query, and the last page that it has returned, with the path and the animals from which this page was written. */
interface CachedQuery extends PageQuery {
  readonly last?: WrittenPage & { readonly path: string; readonly found: readonly Pet[] }
}

/** Returns the size of a cached query, in UTF-16 code units. */
function sizeOf({ last }: CachedQuery): number {
  return QUERY_SIZE + (last?.text.length ?? 0)
}

/** Reads queries and writes pages. */
export type Pages = ReturnType<typeof cachedPages>

/**
 * Creates a cache of recent queries and of the pages that they have returned, because most clients send the same few queries.
 *
 * A page is sent again if it consists of the same frozen objects. Database storages create new objects for each page, so the
 * cache never has their pages.
 */
export function cachedPages(linkBase: LinkBase) {
  const cached = new Map<string, CachedQuery>()
  let size = 0

  /** Caches a query. A full cache is emptied: a page is written again in a few microseconds. */
  function remember(query: string, value: CachedQuery): void {
    if (query.length > MAX_LENGTH || sizeOf(value) > MAX_SIZE) return
    const replaced = cached.get(query)
    size += sizeOf(value) - (replaced ? sizeOf(replaced) : 0)
    if (size > MAX_SIZE) {
      cached.clear()
      size = sizeOf(value)
    }
    cached.set(query, value)
  }

  return {
    /** Reads the query of listPets. @throws {PetStoreError} `invalid_parameter` */
    read(query: string): CachedQuery {
      const known = cached.get(query)
      if (known) return known
      const parsed = parsePageQuery(query)
      remember(query, parsed)
      return parsed
    },
    /** Writes a page. @param found - its animals, and one more if there is a next page */
    write(query: CachedQuery, found: readonly Pet[], target: Target): WrittenPage {
      const { limit, kept, last } = query
      if (last && last.path === target.path && hasSameItems(last.found, found)) return last
      const pets = found.slice(0, limit)
      const text = writePets(pets)
      const end = found.length > limit ? pets.at(-1) : undefined
      const headers = end ? nextPageHeaders(linkBase(target) + target.route, kept, encodeCursor(end.id)) : []
      const page = { text, headers, path: target.path, found: [...found] }
      if (found.every(isPlainAndFrozen)) remember(target.query, { ...query, last: page })
      return page
    },
  }
}

function hasSameItems(known: readonly Pet[], pets: readonly Pet[]): boolean {
  return known.length === pets.length && known.every((pet, i) => pet === pets[i])
}

/** Returns whether an animal is a frozen plain object. Other frozen objects may have getters whose values change. */
function isPlainAndFrozen(pet: Pet): boolean {
  return Object.isFrozen(pet) && Object.getPrototypeOf(pet) === Object.prototype
}

/** Returns the headers for the next page: `Link` (RFC 8288) and `X-Next-Cursor`. @param kept - see {@link PageQuery} */
export function nextPageHeaders(url: string, kept: string, cursor: string): string[] {
  return ['Link', `<${url}?${kept}cursor=${cursor}>; rel="next"`, 'X-Next-Cursor', cursor]
}

/** The version of the cursor format. Every cursor contains it, so that a later format can be distinguished. */
const VERSION = '1'

/** Returns an opaque cursor for the animals after this id. Base64 of digits, `:` and `-` needs no escaping in a URL. */
export function encodeCursor(after: bigint): string {
  return btoa(`${VERSION}:${after}`).replaceAll('=', '')
}

/** Returns the id in a cursor, or `undefined` for any text that {@link encodeCursor} does not return. */
export function decodeCursor(cursor: string): bigint | undefined {
  try {
    const after = parseInt64(atob(cursor).slice(VERSION.length + 1))
    // Encoding the id again checks the version, the separator and the padding.
    if (after !== undefined && encodeCursor(after) === cursor) return after
  } catch {
    // The text is not Base64.
  }
  return undefined
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

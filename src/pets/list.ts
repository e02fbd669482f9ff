import { PetStoreError } from '../errors.ts'
import type { ApiRequest, LinkBase, Target } from '../http/request.ts'
import { jsonResponse, type OwnResponse } from '../http/response.ts'
import type { Pet } from '../model.ts'
import type { PetQuery, PetStorage } from '../ports.ts'
import { problemText } from '../schemas/expected.ts'
import { encodeCursor, pageParameters, petQuery } from '../schemas/query.ts'
import { describeValue } from '../support/describe-value.ts'
import { writePets } from './json.ts'

/** `GET /pets`: returns one page and the link to the next page. */
export async function listPets(
  storage: PetStorage,
  request: ApiRequest,
  target: Target,
  pages: ReturnType<typeof pageCache>,
): Promise<OwnResponse> {
  const known = pages.read(target.query)
  // Read one more animal: if there is one, the response has a link to the next page.
  const found = await storage.list({ ...known.query, limit: known.query.limit + 1 }, request)
  if (!Array.isArray(found)) throw new TypeError(`storage: expected an array from list, got ${describeValue(found)}`)
  const { text, headers } = pages.write(known, found, target)
  return jsonResponse(200, text, headers)
}

/** The largest number of parameters in a query, including unknown ones. Reading many takes long. */
const MAX_PARAMETERS = 100

/** The query of a page, and what the link to the next page repeats. */
export interface PageQuery {
  readonly query: PetQuery
  /** The sent parameters without the cursor, such as `limit=5&`. */
  readonly kept: string
}

/**
 * The values of the known parameters. A repeated parameter has an array, which the schema rejects.
 */
type Parameters = { [Name in keyof typeof pageParameters]?: string | readonly string[] | undefined }

/**
 * Reads the query of listPets. Unknown parameters are ignored.
 * @throws {PetStoreError} `invalid_parameter`, with each wrong parameter, what was expected and
 * what was received
 */
export function parsePageQuery(query: string): PageQuery {
  const sent = readParameters(query)
  const parsed = petQuery.safeParse(sent)
  if (!parsed.success)
    throw new PetStoreError('invalid_parameter', `The query is not valid: ${problemText(parsed.error)}.`)
  const kept = keptNames
    .filter((name) => sent[name] !== undefined)
    .map((name) => `${name}=${encodeURIComponent(String(sent[name]))}&`)
  return { query: parsed.data, kept: kept.join('') }
}

const keptNames = (Object.keys(pageParameters) as (keyof Parameters)[]).filter((name) => name !== 'cursor')

/**
 * Matches most queries, also those of our links. For these, it takes a quarter of the time of
 * `URLSearchParams`.
 */
const ORDINARY_QUERY = /^(?:limit=(?<limit>\d+)(?:&|$))?(?:status=(?<status>\w+)(?:&|$))?(?:cursor=(?<cursor>\w+))?$/

function readParameters(query: string): Parameters {
  const ordinary = ORDINARY_QUERY.exec(query)
  if (ordinary) return { ...ordinary.groups }
  if (query.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    const problem = `expected at most ${MAX_PARAMETERS} parameters`
    throw new PetStoreError('invalid_parameter', `The query is not valid: ${problem}.`)
  }
  const input: Record<string, string | readonly string[]> = {}
  // `URLSearchParams` removes one leading `?`, so add one: the query of `/pets??limit=5` itself
  // begins with a `?`.
  for (const [name, value] of new URLSearchParams(`?${query}`))
    if (Object.hasOwn(pageParameters, name))
      input[name] = name in input ? ([input[name], value].flat() as string[]) : value
  return input
}

interface WrittenPage {
  readonly text: string
  readonly headers: readonly string[]
}

interface KeptPage extends WrittenPage {
  readonly path: string
  readonly found: readonly Pet[]
}

/** A query that was sent, and its page. */
interface KnownQuery extends PageQuery {
  /** Whether a page of the query was written before. A page is kept from the second time on. */
  isRepeated: boolean
  page: KeptPage | undefined
}

/**
 * When the cache has this many queries, it is emptied. An LRU cache would add 1 µs to each page
 * that nobody asked for before.
 */
const MAX_QUERIES = 128
/** A longer query is not cached, so the cache stays small. Queries of our links are shorter. */
const LONGEST_QUERY = 200

/**
 * Returns a cache of queries and their pages. Without it, a list of 20 animals takes 1.3 times the
 * CPU time over HTTP on Node.js, and a list of 100 animals 1.9 times. A page is used again only for
 * the same frozen objects. The database back ends create new objects for each page, so only their
 * queries are cached.
 */
export function pageCache(linkBase: LinkBase) {
  /** The queries, by their texts. */
  const known = new Map<string, KnownQuery>()

  return {
    /** Reads a query. @throws {PetStoreError} `invalid_parameter` */
    read(text: string): KnownQuery {
      const cached = known.get(text)
      if (cached) return cached
      const created: KnownQuery = { ...parsePageQuery(text), isRepeated: false, page: undefined }
      if (text.length > LONGEST_QUERY) return created
      if (known.size >= MAX_QUERIES) known.clear()
      known.set(text, created)
      return created
    },
    /** @param found - the animals of the page, and one more if there is a next page */
    write(sent: KnownQuery, found: readonly Pet[], target: Target): WrittenPage {
      const { query, kept, page, isRepeated } = sent
      if (page && page.path === target.path && hasSameItems(page.found, found)) return page
      const pets = found.slice(0, query.limit)
      const text = writePets(pets)
      const end = found.length > query.limit ? pets.at(-1) : undefined
      const headers = end ? nextPageHeaders(linkBase(target) + target.route, kept, encodeCursor(end.id)) : []
      sent.isRepeated = true
      const isKept = isRepeated && found.every(isPlainAndFrozen)
      sent.page = isKept ? { text, headers, path: target.path, found: [...found] } : undefined
      return sent.page ?? { text, headers }
    },
  }
}

function hasSameItems(known: readonly Pet[], pets: readonly Pet[]): boolean {
  return known.length === pets.length && known.every((pet, i) => pet === pets[i])
}

/**
 * Returns whether an animal cannot change. A frozen object of a class may have getters, whose
 * values may change.
 */
function isPlainAndFrozen(pet: Pet): boolean {
  return Object.isFrozen(pet) && Object.getPrototypeOf(pet) === Object.prototype
}

function nextPageHeaders(url: string, kept: string, cursor: string): string[] {
  return ['Link', `<${url}?${kept}cursor=${cursor}>; rel="next"`, 'X-Next-Cursor', cursor]
}

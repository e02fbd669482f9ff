import { PetStoreError } from '../errors.ts'
import type { LinkBase, Target } from '../http/request.ts'
import { jsonResponse, type OwnResponse } from '../http/response.ts'
import type { CallContext, PetQuery, PetStorage } from '../ports.ts'
import { problemText } from '../schemas/expected.ts'
import { encodeCursor, pageParameters, petQuery } from '../schemas/query.ts'
import { boundedMap } from '../support/bounded-map.ts'
import { describeValue } from '../support/describe-value.ts'
import { writePets } from './json.ts'

/** `GET /pets`: returns one page and the link to the next page. */
export async function listPets(
  storage: PetStorage,
  target: Target,
  linkBase: LinkBase,
  call: CallContext,
): Promise<OwnResponse> {
  const { query, sent } = parsePageQuery(target.query)
  // Read one more animal: if there is one, the response has a link to the next page.
  const found = await storage.list({ ...query, limit: query.limit + 1 }, call)
  if (!Array.isArray(found)) throw new TypeError(`storage: expected an array from list, got ${describeValue(found)}`)
  const pets = found.slice(0, query.limit)
  const end = found.length > query.limit ? pets.at(-1) : undefined
  return jsonResponse(200, writePets(pets), end && nextPageHeaders(linkBase(target) + target.route, sent, end.id))
}

/** The largest number of parameters in a query, including unknown ones. Reading many takes long. */
const MAX_PARAMETERS = 100

/** Many clients ask for the same pages, and reading a query takes as long as reading the animals. */
const parsedQueries = boundedMap<PageQuery>(1_000)
/** The largest length of a query that is kept: the parameters of one page fit. */
const LONGEST_KEPT = 100

export interface PageQuery {
  readonly query: PetQuery
  readonly sent: Parameters
}

/**
 * The values of the known parameters. A repeated parameter has an array, which the schema rejects.
 */
type Parameters = { [Name in keyof typeof pageParameters]?: string | readonly string[] | undefined }

const parameterNames = Object.keys(pageParameters) as (keyof Parameters)[]

/**
 * Reads the query of listPets. Unknown parameters are ignored.
 * @throws {PetStoreError} `invalid_parameter`, with each wrong parameter, what was expected and
 * what was received
 */
export function parsePageQuery(query: string): PageQuery {
  const known = parsedQueries.get(query)
  if (known !== undefined) return known
  const parsed = parse(query)
  if (query.length <= LONGEST_KEPT) parsedQueries.set(query, parsed)
  return parsed
}

function parse(query: string): PageQuery {
  const sent = readParameters(query)
  const parsed = petQuery.safeParse(sent)
  if (parsed.success) return { query: parsed.data, sent }
  throw new PetStoreError('invalid_parameter', `The query is not valid: ${problemText(parsed.error)}.`)
}

function readParameters(query: string): Parameters {
  if (query.split('&', MAX_PARAMETERS + 1).length > MAX_PARAMETERS) {
    const problem = `expected at most ${MAX_PARAMETERS} parameters`
    throw new PetStoreError('invalid_parameter', `The query is not valid: ${problem}.`)
  }
  // `URLSearchParams` removes one leading `?`, so add one: the query of `/pets??limit=5` itself
  // begins with a `?`.
  const all = new URLSearchParams(`?${query}`)
  const parameters: Parameters = {}
  for (const name of parameterNames) {
    const values = all.getAll(name)
    parameters[name] = values.length > 1 ? values : values[0]
  }
  return parameters
}

/** Returns the headers with the link to the next page, which repeats the other parameters. */
function nextPageHeaders(url: string, sent: Parameters, after: bigint): string[] {
  const cursor = encodeCursor(after)
  let query = ''
  for (const name of parameterNames)
    if (name !== 'cursor' && sent[name] !== undefined) query += `${name}=${encodeURIComponent(String(sent[name]))}&`
  return ['Link', `<${url}?${query}cursor=${cursor}>; rel="next"`, 'X-Next-Cursor', cursor]
}

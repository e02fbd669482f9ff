import { PetStoreError } from '../errors.ts'
import { petStatuses } from '../model.ts'
import type { PetQuery } from '../ports.ts'
import { describe } from '../support/describe-value.ts'
import { decodeCursor, encodeCursor } from './cursor.ts'

const DEFAULT_LIMIT = 20

const readers = {
  limit: { expected: 'a whole number from 1 to 100', read: readLimit },
  status: {
    expected: `one of ${petStatuses.join(', ')}`,
    read: (text: string) => petStatuses.find((status) => status === text),
  },
  cursor: { expected: 'a cursor from the Link header of an earlier page', read: decodeCursor },
}

/**
 * Reads the query of listPets. Unknown parameters are ignored.
 *
 * @throws {PetStoreError} `invalid_parameter`, naming every parameter that is wrong, what was expected and what came
 */
export function parsePageQuery(query: string): PetQuery {
  const parameters = searchParams(query)
  const problems: string[] = []
  const read = <Name extends keyof typeof readers>(name: Name) => readOne(parameters.getAll(name), name, problems)
  const page = { limit: read('limit') ?? DEFAULT_LIMIT, status: read('status'), after: read('cursor') }
  if (problems.length > 0)
    throw new PetStoreError('invalid_parameter', `The query is not valid: ${problems.join('; ')}.`)
  return page
}

type ReadBy<Name extends keyof typeof readers> = ReturnType<(typeof readers)[Name]['read']>

function readOne<Name extends keyof typeof readers>(
  values: readonly string[],
  name: Name,
  problems: string[],
): ReadBy<Name> | undefined {
  const [text] = values
  if (text === undefined) return undefined
  const { expected, read } = readers[name]
  const value = values.length === 1 ? read(text) : undefined
  if (value === undefined) {
    const got = values.length === 1 ? `got ${describe(text)}` : `once, got ${values.length} values`
    problems.push(`${name}: expected ${expected}, ${got}`)
  }
  return value as ReadBy<Name> | undefined
}

/** A query may begin with a question mark of its own, which would be taken for the one before it. */
function searchParams(query: string): URLSearchParams {
  return new URLSearchParams(`?${query}`)
}

/** Decimal digits without a sign or a leading zero. */
function readLimit(text: string): number | undefined {
  return /^(?:[1-9]\d?|100)$/.test(text) ? Number(text) : undefined
}

/** The query of the page that follows the animal `last`, with what the client asked for kept. */
export function nextQuery(query: string, last: bigint): string {
  const cursor = `cursor=${encodeCursor(last)}`
  if (query === '') return cursor
  const parameters = searchParams(query)
  const kept = (['limit', 'status'] as const).filter((name) => parameters.has(name))
  return [...kept.map((name) => `${name}=${parameters.get(name)}`), cursor].join('&')
}

import { PetStoreError } from '../../../src/errors.ts'
import type { Clock } from '../../../src/index.ts'
import { withMethods } from '../../../src/schemas/options.ts'
import { parseOption } from '../../../src/schemas/parse-options.ts'
import { describeValue } from '../../../src/support/describe-value.ts'
import { unavailable } from '../shared/errors.ts'
import { pruneSchedule } from '../shared/prune.ts'
import { meaningOf } from './errors.ts'

/** The part of a PostgreSQL client that this package uses. Clients of `pg` and PGlite have it. */
export interface PostgresClient {
  query(text: string, values?: PostgresValue[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** A value for a parameter such as `$1`. */
export type PostgresValue = string | number | null

/** Runs one statement. Rejects with `service_unavailable` if PostgreSQL cannot be reached. */
export type Query = <Row>(text: string, values?: PostgresValue[]) => Promise<readonly Row[]>

/** The values that the storage and the quota store share. */
export interface PostgresContext {
  readonly query: Query
  /** The quoted name of the schema. */
  readonly schema: string
  readonly clock: Clock | undefined
  readonly lockTimeout: number
  readonly report: (error: unknown) => void
}

/**
 * How many times a statement is tried if it conflicts with others. Conflicts are rare at the
 * default isolation level.
 */
const TRIES = 20

const clientSchema = withMethods<PostgresClient>({ query: true }, 'an object with query(text, values)')

/** Returns a function that repeats statements after a conflict, and translates errors. */
export function queryOf(client: PostgresClient): Query {
  parseOption('client', clientSchema, client)
  const run = 'processID' in client ? oneAtATime(client) : client.query.bind(client)
  return async <Row>(text: string, values: PostgresValue[] = []) => {
    for (let tries = 1; ; tries++) {
      try {
        return rowsOf<Row>(await run(text, values))
      } catch (error) {
        const meaning = meaningOf(error)
        if (meaning === 'repeat' && tries < TRIES) continue
        throw meaning === 'unavailable' || meaning === 'repeat' ? unavailable(error) : error
      }
    }
  }
}

/** Drivers such as postgres.js, `Bun.sql` and Neon's HTTP driver return the rows themselves. */
function rowsOf<Row>(result: { readonly rows?: unknown } | null | undefined): readonly Row[] {
  const rows = result?.rows
  if (Array.isArray(rows)) return rows
  throw new PetStoreError(
    'invalid_option',
    `option client: expected query(text, values) to return a promise of { rows }, got ${describeValue(result)}. ` +
      'Wrap the driver: { query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) } for postgres.js and Bun.sql, ' +
      "{ query: async (text, values) => ({ rows: await sql.query(text, values) }) } for Neon's HTTP driver",
  )
}

/** A `Client` of pg is a single connection, so a statement waits for the one before it. */
function oneAtATime(client: PostgresClient): PostgresClient['query'] {
  let last: Promise<unknown> = Promise.resolve()
  return (text, values) => {
    const result = last.then(() => client.query(text, values))
    last = result.catch(() => {})
    return result
  }
}

/**
 * Returns a function to call after each use of a table, or once for many uses with their number.
 * If `pruneSchedule` says so, it starts `work`, unless `work` still runs. No request waits for `work`,
 * so an error of `work` goes to `report`. If `work` fails several times in a row, only one error is
 * reported. A single `service_unavailable` is not reported, because requests report it too.
 */
export function inBackground(work: () => Promise<unknown>, report: (error: unknown) => void): (uses?: number) => void {
  const isDue = pruneSchedule()
  let isRunning = false
  let weightOfFailures = 0
  return async (uses = 1) => {
    if (!isDue(uses) || isRunning) return
    isRunning = true
    try {
      await work()
      weightOfFailures = 0
    } catch (error) {
      const before = weightOfFailures
      weightOfFailures += (error as PetStoreError).code === 'service_unavailable' ? 1 : 2
      if (before < 2 && weightOfFailures >= 2) report(error)
    } finally {
      isRunning = false
    }
  }
}

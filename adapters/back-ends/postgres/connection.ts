import type { Clock } from '../../../src/index.ts'
import { invalidOption, withMethods } from '../../../src/support/option-rules.ts'
import { unavailable } from '../shared/errors.ts'

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
  readonly connection: Connection
  /** The quoted name of the schema. */
  readonly schema: string
  readonly clock: Clock | undefined
  readonly lockTimeout: number
  readonly report: (error: unknown) => void
}

export interface Connection {
  readonly query: Query
  /** Has no time limit. With `query_timeout`, pg would open a new connection while PostgreSQL still waits for the disk. */
  readonly queryPatiently: Query
}

/** The longest time limit of pg, in milliseconds: 24 days. 0 would not remove the limit: pg would use the limit of the pool. */
const NO_TIMEOUT = 2 ** 31 - 1

/** How many times a statement is tried if it conflicts with others. Conflicts are rare at the default isolation level. */
const TRIES = 20

export function connectionOf(client: PostgresClient): Connection {
  if (!withMethods('query').check(client)) throw invalidOption('client', 'an object with query(text, values)', client)
  const run = 'processID' in client ? inTurn(client) : client.query.bind(client)
  return {
    query: repeating(run),
    // Only for pg: other clients might reject an object as the first argument. For them, their own time limit applies.
    queryPatiently: repeating(
      'processID' in client || 'totalCount' in client
        ? (text, values) => run({ text, query_timeout: NO_TIMEOUT } as unknown as string, values)
        : run,
    ),
  }
}

/** Returns a function that repeats statements after a conflict, and translates errors. */
function repeating(run: PostgresClient['query']): Query {
  return async <Row>(text: string, values: PostgresValue[] = []) => {
    for (let tries = 1; ; tries++) {
      try {
        const { rows } = await run(text, values)
        return rows as readonly Row[]
      } catch (error) {
        if (tries < TRIES && CONFLICT.test(codeOf(error))) continue
        throw isUnavailable(error) ? unavailable(error) : error
      }
    }
  }
}

/** A `Client` of pg is a single connection, so a statement waits for the one before it. */
function inTurn(client: PostgresClient): PostgresClient['query'] {
  let last: Promise<unknown> = Promise.resolve()
  return (text, values) => {
    const result = last.then(() => client.query(text, values))
    last = result.catch(() => {})
    return result
  }
}

/**
 * SQLSTATE codes for a serialization failure, a deadlock, or a schema or table that another process has just created. The failed
 * statement has changed nothing, so it is repeated.
 */
const CONFLICT = /^(?:40001|40P01|42P06|42P07)$/

/**
 * SQLSTATE codes that mean PostgreSQL is unavailable, and error codes of postgres.js and Bun:
 * - 08: the connection failed
 * - 53: insufficient resources, such as a full disk
 * - 57P0x, 57014: shutdown, start-up, or a cancelled statement
 * - 55P03: a lock timeout
 * - 25006: a read-only server after a failover
 * - 58030: an I/O error
 * - 40001, 40P01: conflicts that remain after all tries
 */
const UNAVAILABLE =
  /^(?:08...|53...|57P0[1235]|57014|55P03|25006|58030|40001|40P01|CONNECT(?:ION)?_\w+|ERR_POSTGRES_(?:CONNECTION|IDLE|LIFETIME)\w+)$/

/** Messages of errors without a code, from pg, pg-pool and PGlite: the connection was lost, or no connection was free in time. */
const DISCONNECTED =
  /^(?:Connection (?:terminated|ended)|timeout (?:expired|exceeded)|Client (?:has encountered a connection error|was closed)|Query read timeout|Cannot use a pool after|PGlite is (?:closed|closing))/

/** Does not use `instanceof Error`: under Jest, it is false for Node's errors. */
function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { errors, message } = error as { errors?: unknown; message?: unknown }
  // If a host name has several IP addresses, Node reports all failed connections in one error.
  if (Array.isArray(errors) && errors.some(isUnavailable)) return true
  return UNAVAILABLE.test(codeOf(error)) || 'syscall' in error || DISCONNECTED.test(String(message))
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

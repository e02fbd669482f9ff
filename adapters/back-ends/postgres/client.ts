import { invalidOption } from '../../../src/support/option-rules.ts'
import { unavailable } from '../shared/unavailable.ts'

/** What is needed of a PostgreSQL client: one statement and its values in, rows out. `pg` and PGlite are such as they are. */
export interface PostgresClient {
  query(text: string, values?: PostgresValue[]): Promise<{ readonly rows: readonly unknown[] }>
}

/** A value that is sent beside a statement, for `$1` and so on. */
export type PostgresValue = string | number | null

/** Runs one statement. Every failure to reach the engine comes as `service_unavailable`. */
export type Query = <Row>(text: string, values?: PostgresValue[]) => Promise<readonly Row[]>

/** How often a statement is tried that lost a race: only where the host has chosen a stricter isolation than the default. */
const TRIES = 20

/**
 * Makes the one function by which the ports speak to the engine.
 *
 * @throws {PetStoreError} `invalid_option`
 */
export function querying(client: PostgresClient): Query {
  if (!isClient(client)) throw invalidOption('client', 'an object with query(text, values)', client)
  const run = 'processID' in client ? inTurn(client) : client.query.bind(client)
  return async <Row>(text: string, values: PostgresValue[] = []) => {
    for (let tries = 1; ; tries++) {
      try {
        const { rows } = await run(text, values)
        return rows as readonly Row[]
      } catch (error) {
        if (tries < TRIES && hasLostRace(error)) continue
        throw isUnavailable(error) ? unavailable(error) : error
      }
    }
  }
}

function isClient(client: unknown): boolean {
  return typeof client === 'object' && client !== null && 'query' in client && typeof client.query === 'function'
}

/** A `Client` of pg is one connection and wants its statements one after the other. */
function inTurn(client: PostgresClient): PostgresClient['query'] {
  let last: Promise<unknown> = Promise.resolve()
  return (text, values) => {
    const result = last.then(() => client.query(text, values))
    last = result.catch(() => {})
    return result
  }
}

/**
 * Serialization failure, deadlock, and a schema or table that another process has created since the transaction began:
 * the statement has left no trace and may be sent again.
 */
const LOST_RACE = /^(?:40001|40P01|42P06|42P07)$/

function hasLostRace(error: unknown): boolean {
  return LOST_RACE.test(codeOf(error))
}

/**
 * SQLSTATEs of an engine that cannot work now: connection exceptions (08), insufficient resources such as a full disk (53),
 * shutdown and start-up (57P0x), a cancelled statement (57014), a lock not had in time (55P03), a failover that has left a
 * read-only server (25006), an operating system's I/O error (58030), races lost over and over; and the codes of other drivers.
 */
const UNAVAILABLE =
  /^(?:08...|53...|57P0[1235]|57014|55P03|25006|58030|40001|40P01|CONNECT(?:ION)?_\w+|ERR_POSTGRES_(?:CONNECTION|IDLE|LIFETIME)\w+)$/

/** What pg, pg-pool and PGlite say, without any code, of a connection that is lost or cannot be had in time. */
const DISCONNECTED =
  /^(?:Connection (?:terminated|ended)|timeout (?:expired|exceeded)|Client (?:has encountered a connection error|was closed)|Query read timeout|Cannot use a pool after|PGlite is (?:closed|closing))/

/** By what an error bears: Node's own are of another realm under Jest. */
function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false
  const { errors, message } = error as { errors?: unknown; message?: unknown }
  // Node's way to say that a host was reached at none of its addresses.
  if (Array.isArray(errors) && errors.some(isUnavailable)) return true
  return UNAVAILABLE.test(codeOf(error)) || 'syscall' in error || DISCONNECTED.test(String(message))
}

function codeOf(error: unknown): string {
  const { code } = error as { code?: unknown }
  return typeof code === 'string' ? code : ''
}

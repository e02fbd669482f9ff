/**
 * The reaction to an error:
 * - `repeat`: the statement has changed nothing because of another transaction. Send it again; if
 *   that never helps, respond 503.
 * - `rejected`: PostgreSQL rejects a value, so only the call with this value fails.
 * - `unavailable`: PostgreSQL cannot work now. The client gets 503, and may try again.
 */
export type Meaning = 'repeat' | 'rejected' | 'unavailable'

/**
 * SQLSTATE codes, and their classes (the first two characters). A code goes before its class. Any
 * other code is a fault of the set-up or of this package, and becomes 500.
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const SQLSTATES: Readonly<Record<string, Meaning>> = {
  '08': 'unavailable', // the connection failed; PgBouncer also has no free connection
  '22': 'rejected', // a data exception
  '2200H': 'unavailable', // no id is left: the sequence has reached its end
  '23': 'rejected', // a constraint, perhaps one that the application has added
  '25006': 'unavailable', // a read-only server, after a failover
  '25P03': 'unavailable', // the transaction was idle for too long, and its connection was closed
  '25P04': 'unavailable', // transaction_timeout
  '40': 'repeat', // a serialization failure or a deadlock
  '40003': 'unavailable', // nobody knows whether the statement was carried out
  '42P06': 'repeat', // another process has just created the schema
  '42P07': 'repeat', // another process has just created the table
  '44': 'rejected', // a view with WITH CHECK OPTION
  '53': 'unavailable', // insufficient resources, such as a full disk or too many connections
  '54': 'rejected', // a program limit, such as an index row that is too large
  '54000': 'unavailable', // no transaction ids are left until VACUUM has run
  '55': 'unavailable', // a lock timeout, or a database that accepts no connections
  '57': 'unavailable', // shutdown, start-up, or a cancelled statement
  '58': 'unavailable', // an I/O error
  P0001: 'rejected', // RAISE in a trigger of the application
  XX: 'unavailable', // XX000 is what Supavisor and Neon respond while they have no connection or the compute sleeps
}

/**
 * Codes of drivers for a lost connection, or for none that was free in time: postgres.js
 * (`CONNECTION_CLOSED`, `CONNECT_TIMEOUT`), Bun (`ERR_POSTGRES_CONNECTION_CLOSED`), and `fetch` of
 * Node (`UND_ERR_SOCKET`). Errors of Node's sockets have a `syscall`.
 */
const DRIVER_CODES = /^(?:CONNECT(?:ION)?_\w+|ERR_POSTGRES_(?:CONNECTION|IDLE|LIFETIME)\w+|UND_ERR_\w+)$/

/**
 * Messages of errors without a code: of pg, pg-pool and PGlite, of the sockets of Workers, and of
 * Neon's driver, whose server has responded with 429 or 5xx.
 */
const DRIVER_MESSAGES =
  /^(?:proxy request failed|Network connection lost|Stream was cancelled|Connection (?:terminated|ended)|timeout (?:expired|exceeded)|Client (?:has encountered a connection error|was closed)|Query read timeout|Cannot use a pool after|PGlite is (?:closed|closing)|Server error \(HTTP status (?:429|5\d\d)\))/

/**
 * Returns the reaction to an error of PostgreSQL or its driver; `undefined` for a fault of the
 * set-up or of this package. Does not use `instanceof`: under Jest, it is false for Node's errors.
 */
export function meaningOf(error: unknown): Meaning | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const state = sqlStateOf(error)
  if (state !== undefined) return SQLSTATES[state] ?? SQLSTATES[state.slice(0, 2)]
  return isDisconnected(error) ? 'unavailable' : undefined
}

function isDisconnected(error: object): boolean {
  const { code, message, errors, sourceError } = error as Readonly<Record<string, unknown>>
  // If a host name has several IP addresses, Node reports all failed connections in one error.
  if (Array.isArray(errors)) return errors.some((one) => meaningOf(one) === 'unavailable')
  // Neon's driver keeps the error of `fetch` here: it got no response.
  if (sourceError != null) return true
  return 'syscall' in error || DRIVER_CODES.test(String(code)) || DRIVER_MESSAGES.test(String(message))
}

/** The SQLSTATE code of an error. Bun has it in `errno`, and a code of its own in `code`. */
export function sqlStateOf(error: unknown): string | undefined {
  const { code, errno } = Object(error) as { code?: unknown; errno?: unknown }
  const state = code === 'ERR_POSTGRES_SERVER_ERROR' ? errno : code
  return typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) && state !== 'EPIPE' ? state : undefined
}

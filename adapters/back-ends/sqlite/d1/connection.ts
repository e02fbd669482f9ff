import { withMethods } from '../../../../src/schemas/options.ts'
import { parseOption } from '../../../../src/schemas/parse-options.ts'
import { unavailable } from '../../shared/errors.ts'
import { isUnavailableCode } from '../errors.ts'
import type { SqliteValue } from '../statements.ts'

/**
 * The part of a D1 statement that this package uses. Bound values are strings, numbers and `null`.
 */
export interface D1Statement {
  bind(...values: (string | number | null)[]): D1Statement
  all(): Promise<{ readonly results: readonly unknown[] }>
}

/**
 * The part of a D1 database that this package uses: a Worker's binding, such as `env.DB`, or a
 * session of it.
 */
export interface D1Database {
  prepare(sql: string): D1Statement
  batch(statements: D1Statement[]): Promise<readonly { readonly results: readonly unknown[] }[]>
}

export type Command = readonly [sql: string, ...values: SqliteValue[]]

/** Calls reject with `service_unavailable` if D1 cannot be reached. */
export type Engine = ReturnType<typeof engineOf>

const binding = withMethods<D1Database>(
  { prepare: true, batch: true },
  'a D1 binding such as env.DB, with prepare and batch',
)

export function engineOf(database: D1Database) {
  parseOption('database', binding, database)
  const bound = ([sql, ...values]: Command) => database.prepare(sql).bind(...values)
  return {
    run: async (...command: Command) => (await bound(command).all().catch(rethrow)).results,
    /** Runs statements in one round trip and one transaction. */
    transact: async (commands: readonly Command[]) =>
      (await database.batch(commands.map(bound)).catch(rethrow)).map(({ results }) => results),
  }
}

function rethrow(error: unknown): never {
  throw isUnavailable(error) ? unavailable(error) : error
}

/**
 * Messages of a database that cannot be reached or cannot work now. D1 lists its messages at
 * https://developers.cloudflare.com/d1/observability/debug-d1/. If the connection breaks, or after
 * an internal error, `D1_ERROR` may be missing. The last two alternatives are codes of the libSQL
 * client.
 */
const UNAVAILABLE =
  /^D1_ERROR: |\bNetwork connection lost\b|^internal error; reference = |^SERVER_ERROR: |^HRANA_\w+_ERROR: /

/**
 * Returns whether an error means that D1 cannot work now. The result code of SQLite in the message
 * decides, such as SQLITE_BUSY. Without one, `UNAVAILABLE` decides.
 */
function isUnavailable(error: unknown): boolean {
  const { message } = Object(error) as { message?: unknown }
  if (typeof message !== 'string') return false
  const [code] = /\bSQLITE_[A-Z]+/.exec(message) ?? []
  return code === undefined ? UNAVAILABLE.test(message) : isUnavailableCode(code)
}

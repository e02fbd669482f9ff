import { invalidOption } from '../../../src/support/option-rules.ts'
import { unavailable } from '../shared/unavailable.ts'
import type { SqliteValue } from '../sqlite/connection.ts'
import { isUnavailable } from './errors.ts'

/** The part of a D1 statement that this package uses. Bound values are strings, numbers and `null`. */
export interface D1Statement {
  bind(...values: (string | number | null)[]): D1Statement
  all(): Promise<{ readonly results: readonly unknown[] }>
}

/** The part of a D1 database that this package uses: a Worker's binding, such as `env.DB`, or a session of it. */
export interface D1Database {
  prepare(sql: string): D1Statement
  batch(statements: D1Statement[]): Promise<readonly { readonly results: readonly unknown[] }[]>
}

/** An SQL statement and the values of its parameters. */
export type Command = readonly [sql: string, ...values: SqliteValue[]]

/** The access to D1 that the stores share. If D1 cannot be reached, a call rejects with `service_unavailable`. */
export interface Engine {
  /** Runs one statement, and returns its rows. */
  run<Row>(...command: Command): Promise<readonly Row[]>
  /** Runs statements in one round trip and one transaction, and returns the rows of each. */
  transact(commands: readonly Command[]): Promise<readonly (readonly unknown[])[]>
}

/**
 * Checks a D1 binding and returns the access to its database.
 *
 * @throws {PetStoreError} `invalid_option` if it is no D1 binding
 */
export function engineOf(database: D1Database): Engine {
  if (typeof database?.prepare !== 'function' || typeof database.batch !== 'function')
    throw invalidOption('database', 'a D1 binding such as env.DB, with prepare and batch', database)
  const bound = ([sql, ...values]: Command) => database.prepare(sql).bind(...values)
  return {
    run: async <Row>(...command: Command) => (await guarded(() => bound(command).all())).results as readonly Row[],
    transact: async (commands) =>
      (await guarded(() => database.batch(commands.map(bound)))).map(({ results }) => results),
  }
}

async function guarded<T>(use: () => Promise<T>): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw isUnavailable(error) ? unavailable(error) : error
  }
}

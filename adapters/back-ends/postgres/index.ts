import * as z from 'zod/mini'
import type { Clock, ManagedBackEnd } from '../../../src/index.ts'
import { callOrLog, readableError } from '../../../src/reports/observers.ts'
import { clock, functionOf, optionsOf, textThat, timeout } from '../../../src/schemas/options.ts'
import { parseOptions } from '../../../src/schemas/parse-options.ts'
import { isStorable } from '../../../src/schemas/text.ts'
import { databaseKeys, type KeyOptions, keyShape } from '../shared/keys.ts'
import { type PostgresClient, queryOf } from './connection.ts'
import { migrate } from './migrate.ts'
import { postgresQuota } from './quota.ts'
import { keyStatements } from './statements.ts'
import { postgresStorage } from './storage.ts'

// These types are public in `petstore-kit`, too. Programs that emit declarations need them from this entry.
export type { ManagedKeyStore, PetStorage, QuotaStore } from '../../../src/ports.ts'
export type { KeyOptions } from '../shared/keys.ts'
export type { PostgresClient, PostgresValue } from './connection.ts'

/** The options of {@link postgres}. */
export interface PostgresOptions extends KeyOptions {
  /** The PostgreSQL schema of the tables. `migrate` creates the schema. @default 'petstore' */
  readonly schema?: string | undefined
  /**
   * A clock for tests, in milliseconds since the Unix epoch.
   * @default PostgreSQL's time, so that different machines agree
   */
  readonly clock?: Clock | undefined
  /**
   * How long a write waits for a lock, in milliseconds. A call can wait twice: for the write before
   * it and for its own lock. Stay below half of the store's `timeout`; otherwise an animal may be
   * stored after its client got a 503.
   * @default 4000
   */
  readonly lockTimeout?: number | undefined
  /**
   * Called with errors that do not make a request fail: old rows cannot be deleted, so tables grow;
   * or `synchronous_commit` is off, so a crash of PostgreSQL can lose animals.
   * @default logs to `console.error`
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

/** A back end on PostgreSQL. */
export interface PostgresBackEnd extends ManagedBackEnd {
  /**
   * Creates or updates the tables. Call it at every start; several processes may call it at the
   * same time. If the tables are current, the role needs no right but to read their version. If the
   * next id is not above all animals, as after logical replication, it is raised.
   * If the setting `synchronous_commit` is `off`, `onError` gets an error, because a crash of
   * PostgreSQL can then lose acknowledged animals.
   *
   * @throws {PetStoreError} `service_unavailable` if PostgreSQL cannot be reached; `invalid_option`
   * if a later release has migrated the tables, if the server is a PostgreSQL before 12 or another
   * database, such as CockroachDB, if the encoding of the database is not UTF8, or if something is
   * to do that the role may not do
   */
  migrate(): Promise<void>
}

/** PostgreSQL cuts longer names without an error, so two different names could become equal. */
const NAME_BYTES = 63

const schemaName = textThat(
  (name) =>
    name !== '' && !name.startsWith('pg_') && isStorable(name) && new TextEncoder().encode(name).length <= NAME_BYTES,
  `a name of 1 to ${NAME_BYTES} bytes that does not begin with "pg_"`,
)

const postgresOptions = optionsOf<PostgresOptions>({
  ...keyShape,
  schema: z.optional(schemaName),
  clock: z.optional(clock),
  lockTimeout: z.optional(timeout),
  onError: z.optional(functionOf<NonNullable<PostgresOptions['onError']>>()),
})

/**
 * Stores animals, keys and request counters in PostgreSQL 12 or later, for any number of processes.
 *
 * Each operation is one statement, and changes a setting only until the end of its transaction, so it
 * works behind a pooler. The client remains yours: listen to the `error` event of a `Pool`, and
 * close the client when you are done.
 *
 * @param client - a `Pool` or `Client` of pg, a PGlite, or anything else with `query(text, values)`
 * @throws {PetStoreError} `invalid_option`, with the name of the option
 * @example
 * ```ts
 * import { PGlite } from '@electric-sql/pglite'
 * import { createPetStore } from 'petstore-kit'
 * import { postgres } from 'petstore-kit/postgres'
 *
 * const backEnd = postgres(new PGlite())
 * await backEnd.migrate()
 * const { token } = await backEnd.keyStore.issue({ plan: 'pro' })
 * const petStore = createPetStore({ ...backEnd })
 * ```
 */
export function postgres(client: PostgresClient, given: PostgresOptions = {}): PostgresBackEnd {
  const options = parseOptions(postgresOptions, given)
  const { clock, lockTimeout = 4_000, onError = logPostgresError } = options
  const report = (error: unknown) => callOrLog('onError', onError, logPostgresError, error)
  const query = queryOf(client)
  const schema = quoteName(options.schema ?? 'petstore')
  const statements = keyStatements(schema)
  // For a text with U+0000, PostgreSQL would report an error. No key contains U+0000, so the result
  // is empty.
  const run: Parameters<typeof databaseKeys>[1] = (name, ...values) =>
    values.some((value) => String(value).includes('\u0000')) ? [] : query(statements[name], values)
  const context = { query, schema, clock, lockTimeout, report }
  return {
    storage: postgresStorage(context),
    keyStore: databaseKeys(options, run, run, clock),
    quota: postgresQuota(context),
    async migrate() {
      await migrate(query, schema)
      const [row] = await query<{ synchronous_commit: string }>('SHOW synchronous_commit')
      if (row?.synchronous_commit === 'off') report(new Error(NOT_DURABLE))
    },
  }
}

function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

const NOT_DURABLE =
  'synchronous_commit is off on the server, the database or the role: a crash of PostgreSQL loses animals that were acknowledged with 201. Set it to on'

function logPostgresError(error: unknown): void {
  console.error(`petstore-kit: PostgreSQL: ${readableError(error)}`)
}

import { type Clock, cached, type KeyCacheOptions, type ManagedKeyStore, type QuotaStore } from '../../../src/index.ts'
import { keyCacheRule } from '../../../src/keys/key-cache.ts'
import { checkOptions, clockRule, type OptionRules, timeoutRule } from '../../../src/support/option-rules.ts'
import { type PostgresClient, querying } from './client.ts'
import { postgresDisk } from './disk.ts'
import { postgresKeyStore } from './keys.ts'
import { migrate } from './migrate.ts'
import { namesIn, schemaRule } from './names.ts'
import { postgresQuota } from './quota.ts'
import { type PostgresStorage, postgresStorage } from './storage.ts'
import { sqlTime } from './time.ts'

export type { PostgresClient, PostgresValue } from './client.ts'
export type { PostgresStorage } from './storage.ts'

/** The options of {@link postgres}. */
export interface PostgresOptions {
  /** The PostgreSQL schema of the tables. `migrate` creates the schema. @default 'petstore' */
  readonly schema?: string | undefined
  /** How API keys are cached in this process; `false` turns the cache off. @default { ttl: 30000, max: 10000 } */
  readonly keyCache?: KeyCacheOptions | false | undefined
  /**
   * A clock for tests. It returns milliseconds since the Unix epoch.
   *
   * @default PostgreSQL's time, so that machines with different clocks count alike
   */
  readonly clock?: Clock | undefined
  /**
   * How long a write waits for a lock, in milliseconds. A call waits for the write before it, and then for its own. So choose less
   * than half of the store's `timeout`, so that nothing is written after a client has received 503.
   *
   * @default 4000
   */
  readonly lockTimeout?: number | undefined
}

/** A back end on PostgreSQL. */
export interface PostgresBackEnd {
  /** The stored animals. Readers see new animals in the order of their ids. */
  readonly storage: PostgresStorage
  /** The API keys. Only the SHA-256 hash of a token is stored. */
  readonly keyStore: ManagedKeyStore
  /** The request counters, one row per subject. */
  readonly quota: QuotaStore
  /**
   * Creates or updates the tables. Call it at every start; several processes may call it at the same time.
   *
   * @throws {PetStoreError} `service_unavailable` if PostgreSQL cannot be reached; `invalid_option` if a later release has
   * migrated the tables
   */
  migrate(): Promise<void>
}

const RULES: OptionRules<keyof PostgresOptions> = {
  schema: schemaRule,
  keyCache: keyCacheRule,
  clock: clockRule,
  lockTimeout: timeoutRule,
}

/**
 * Stores animals, keys and request counters in PostgreSQL 12 or later, for any number of processes.
 *
 * Each operation is one statement and changes no setting of its connection, so it works behind a pooler. The client remains
 * yours: listen to the `error` event of a `Pool`, and close the client when you are done.
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
export function postgres(client: PostgresClient, options: PostgresOptions = {}): PostgresBackEnd {
  checkOptions(RULES, options)
  const { schema = 'petstore', keyCache = {}, clock, lockTimeout = 4_000 } = options
  const query = querying(client)
  const names = namesIn(schema)
  const keyStore = postgresKeyStore(query, names, sqlTime(clock))
  const disk = postgresDisk(query, names, lockTimeout)
  return {
    storage: postgresStorage(query, names, disk, lockTimeout),
    keyStore: keyCache === false ? keyStore : cached(keyStore, { clock, ...keyCache }),
    quota: postgresQuota(query, names, disk, clock, lockTimeout),
    migrate: () => migrate(query, names),
  }
}

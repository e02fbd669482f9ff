import { type Clock, cached, type KeyCacheOptions, type ManagedKeyStore, type QuotaStore } from '../../../src/index.ts'
import { keyCacheRule } from '../../../src/keys/key-cache.ts'
import {
  checkOptions,
  clockRule,
  invalidOption,
  millisecondsRule,
  type OptionRules,
  oneOf,
} from '../../../src/support/option-rules.ts'
import { systemClock } from '../../../src/support/system-clock.ts'
import { keyStatements, tableKeyStore } from '../sqlite-dialect/keys.ts'
import { prepareAll, type SqliteDatabase, type SqliteSynchronous, SYNCHRONOUS, setUp } from './connection.ts'
import { guarded } from './errors.ts'
import { sqliteQuota } from './quota.ts'
import { migrate } from './schema.ts'
import { type SqliteStorage, sqliteStorage } from './storage.ts'
import { createWriter } from './writer.ts'

export type { SqliteDatabase, SqliteStatement, SqliteSynchronous } from './connection.ts'
export type { SqliteStorage } from './storage.ts'

/** The options of {@link sqlite}. */
export interface SqliteOptions {
  /** The clock for the times of keys. @default the system's clock */
  readonly clock?: Clock | undefined
  /** How API keys are cached in this process; `false` turns the cache off. @default { ttl: 30000, max: 10000 } */
  readonly keyCache?: KeyCacheOptions | false | undefined
  /** How long a call waits for another process to finish writing, in milliseconds. @default the connection's setting, or 5000 if that is 0 */
  readonly busyTimeout?: number | undefined
  /**
   * How long a commit waits. After a commit with `full`, data survives a loss of power. After a commit with `normal`, data survives
   * only the end of the process.
   *
   * @default the connection's setting, but `full` instead of `normal` in WAL mode, because some drivers set `normal` by themselves
   */
  readonly synchronous?: SqliteSynchronous | undefined
}

const RULES: OptionRules<keyof SqliteOptions> = {
  clock: clockRule,
  keyCache: keyCacheRule,
  busyTimeout: millisecondsRule,
  synchronous: oneOf(...SYNCHRONOUS),
}

/**
 * Stores animals, keys and request counters in one SQLite file, which several processes of one machine may share.
 *
 * Pass a connection of better-sqlite3, `node:sqlite`, `bun:sqlite` or libsql (SQLite 3.38 or later). Only the back end may use it.
 * `sqlite` creates tables whose names begin with `petstore_`, and turns on WAL mode. Close the connection yourself when you are
 * done.
 *
 * @throws {PetStoreError} `invalid_option` if an option is invalid or a later release has migrated the tables;
 * `service_unavailable` if the file cannot be used now
 * @example
 * ```ts
 * import Database from 'better-sqlite3'
 * import { createPetStore } from 'petstore-kit'
 * import { sqlite } from 'petstore-kit/sqlite'
 *
 * const backEnd = sqlite(new Database('pets.db'))
 * const { token } = await backEnd.keyStore.issue({ plan: 'pro' })
 * const petStore = createPetStore({ ...backEnd })
 * ```
 */
export function sqlite(
  database: SqliteDatabase,
  options: SqliteOptions = {},
): { storage: SqliteStorage; keyStore: ManagedKeyStore; quota: QuotaStore } {
  checkOptions(RULES, options)
  const { clock = systemClock, keyCache = {}, busyTimeout, synchronous } = options
  if (typeof database?.prepare !== 'function' || typeof database.exec !== 'function')
    throw invalidOption('database', 'a connection with prepare and exec', database)
  return guarded(() => {
    setUp(database, { busyTimeout, synchronous })
    migrate(database)
    const writer = createWriter(database)
    const keys = prepareAll(database, keyStatements)
    const keyStore = tableKeyStore(
      (name, ...values) => guarded(() => keys[name].all(...values)),
      (name, ...values) => writer.write(() => keys[name].all(...values)),
      clock,
    )
    return {
      storage: sqliteStorage(database, writer),
      keyStore: keyCache === false ? keyStore : cached(keyStore, { clock, ...keyCache }),
      quota: sqliteQuota(database, writer, clock),
    }
  })
}

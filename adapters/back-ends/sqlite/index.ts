import { createHash } from 'node:crypto'
import * as z from 'zod/mini'
import type { IdempotencyHashes } from '../../../src/back-end.ts'
import type { Clock, Idempotency, ManagedBackEnd } from '../../../src/index.ts'
import { fingerprintText, keyText } from '../../../src/pets/idempotency.ts'
import { clock, functionOf, milliseconds, oneOf, optionsOf, withMethods } from '../../../src/schemas/options.ts'
import { parseOption, parseOptions } from '../../../src/schemas/parse-options.ts'
import { systemClock } from '../../../src/support/time.ts'
import { databaseKeys, type KeyOptions, keyShape } from '../shared/keys.ts'
import {
  prepareAll,
  type SqliteDatabase,
  type SqliteSynchronous,
  SYNCHRONOUS,
  setBusyTimeout,
  setUp,
} from './connection.ts'
import { guarded } from './errors.ts'
import { type Read, readWhenUnlocked } from './locks.ts'
import { migrateSqlite } from './migrate.ts'
import { checkOfOpenedFile, pathOf, requireOwnLog } from './opened-file.ts'
import { sqliteQuota } from './quota.ts'
import { type Command, type RunAll, type RunOne, statements } from './statements.ts'
import { tableStorage } from './storage.ts'
import { logWarning, reportVersion } from './version.ts'
import { createWriter } from './writer.ts'

// These types are public in `petstore-kit`, too. Programs that emit declarations need them from this entry.
export type { ManagedBackEnd, ManagedKeyStore, PetStorage, QuotaStore } from '../../../src/ports.ts'
export type { KeyOptions } from '../shared/keys.ts'
export type { SqliteDatabase, SqliteStatement, SqliteSynchronous } from './connection.ts'

/** The options of {@link sqlite}. */
export interface SqliteOptions extends KeyOptions {
  /** The clock for the times of API keys and idempotency keys. @default the system's clock */
  readonly clock?: Clock | undefined
  /**
   * How long a call waits while another process writes, in milliseconds. A request also stops waiting
   * at the store's `timeout`, and then adds nothing.
   * @default 5000
   */
  readonly busyTimeout?: number | undefined
  /**
   * How durable a commit is. With `full`, committed data survives a loss of power. With `normal`,
   * it survives only a crash of the process.
   * @default the connection's setting, but `full` instead of `normal` in WAL mode, because some
   * drivers set `normal` by themselves
   */
  readonly synchronous?: SqliteSynchronous | undefined
  /**
   * Called at the start if this version of SQLite may damage a file that several connections use.
   * @default logs to `console.error`
   */
  readonly onError?: ((error: unknown) => void) | undefined
}

const sqliteOptions = optionsOf<SqliteOptions>({
  ...keyShape,
  clock: z.optional(clock),
  busyTimeout: z.optional(milliseconds),
  synchronous: z.optional(oneOf(...SYNCHRONOUS)),
  onError: z.optional(functionOf<NonNullable<SqliteOptions['onError']>>()),
})
const connection = withMethods<SqliteDatabase>({ prepare: true, exec: true }, 'a connection with prepare and exec')

/**
 * Stores animals, keys and request counters in one SQLite file, which several processes of one
 * machine may share.
 *
 * Pass a connection of `node:sqlite`, better-sqlite3, `bun:sqlite` or libsql (SQLite 3.38 or later;
 * before 3.51.3, it may damage a file that several connections use). Only the back end may use it.
 * `sqlite` creates tables whose names begin with `petstore_`, turns on WAL mode, and sets
 * `busy_timeout` to 0. Close the connection yourself when you are done.
 *
 * @throws {PetStoreError} `invalid_option` if an option is invalid or a later release has migrated
 * the tables; `service_unavailable` if the file cannot be used now, or if the log beside it belongs
 * to another file
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
export function sqlite(database: SqliteDatabase, given: SqliteOptions = {}): ManagedBackEnd {
  const options = parseOptions(sqliteOptions, given)
  const { clock = systemClock, busyTimeout = 5_000, synchronous, onError = logWarning } = options
  parseOption('database', connection, database)
  return guarded(() => {
    const path = pathOf(database)
    requireOwnLog(path)
    setUp(database, busyTimeout, synchronous)
    migrateSqlite(database)
    reportVersion(database, onError)
    const requireOpenedFile = checkOfOpenedFile(path)
    const write = createWriter(database, { check: requireOpenedFile, busyTimeout })
    const prepared = prepareAll(database, statements)
    // `all` runs a statement to its end. If only the first row is read, drivers do not report a
    // failed commit.
    const run = (...[name, ...values]: Command) => prepared[name].all(...values)
    const readFile: Read = (work) =>
      readWhenUnlocked(() => {
        requireOpenedFile()
        return work()
      }, busyTimeout)
    const read: RunOne = (name, ...values) => readFile(() => run(name, ...values))
    const transact: RunAll = (commands, context) => write(() => commands.map((command) => run(...command)), context)
    const backEnd = {
      storage: tableStorage({ read, transact, hash: hashNow, clock }),
      keyStore: databaseKeys(options, read, (...command) => write(() => run(...command)), clock),
      quota: sqliteQuota(database, { read: readFile, write }, clock),
    }
    // From now on, the driver does not wait for locks: it would stop this whole process meanwhile.
    setBusyTimeout(database, 0)
    return backEnd
  })
}

/** Synchronous, because `crypto.subtle` would take longer than the rest of a create. */
function hashNow(idempotency: Idempotency): IdempotencyHashes {
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')
  return { key: sha256(keyText(idempotency)), fingerprint: sha256(fingerprintText(idempotency)) }
}

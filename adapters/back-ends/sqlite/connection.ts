import { resultCode } from './errors.ts'
import type { SqliteValue } from './statements.ts'

/**
 * The part of a prepared statement that this package uses. Bound values are strings, numbers and
 * `null`.
 */
export interface SqliteStatement {
  all(...values: never[]): unknown[]
  run(...values: never[]): unknown
}

/**
 * The part of a SQLite connection that this package uses. better-sqlite3, `node:sqlite`,
 * `bun:sqlite` and libsql have it.
 */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
}

/** A prepared statement with one type for bound values. The drivers' own types differ. */
export interface Statement {
  all(...values: SqliteValue[]): unknown[]
  run(...values: SqliteValue[]): unknown
}

export function prepare(database: SqliteDatabase, sql: string): Statement {
  return database.prepare(sql) as Statement
}

export function prepareAll<Name extends string>(database: SqliteDatabase, statements: Readonly<Record<Name, string>>) {
  const prepared = Object.entries<string>(statements).map(([name, sql]) => [name, prepare(database, sql)])
  return Object.fromEntries(prepared) as Readonly<Record<Name, Statement>>
}

/** How durable a commit is, as in `PRAGMA synchronous`. */
export type SqliteSynchronous = (typeof SYNCHRONOUS)[number]

/** In the order of SQLite's numbers: `PRAGMA synchronous` returns the index of a setting. */
export const SYNCHRONOUS = ['off', 'normal', 'full', 'extra'] as const

const WAL_TRIES = 250
const WAL_PAUSE = 20

/**
 * Sets the busy timeout and `synchronous`. Turns on WAL mode, unless the application has already
 * changed the journal mode.
 */
export function setUp(database: SqliteDatabase, busyTimeout: number, synchronous?: SqliteSynchronous): void {
  setBusyTimeout(database, busyTimeout)
  const chosen = synchronous ?? chosenSynchronous(database)
  useWal(database)
  database.exec(`PRAGMA synchronous = ${chosen}`)
}

/** Sets how long the driver waits for a lock, in milliseconds. */
export function setBusyTimeout(database: SqliteDatabase, milliseconds: number): void {
  pragma(database, `busy_timeout = ${milliseconds}`)
}

/**
 * Returns the setting, but `full` if a driver has set `normal` in WAL mode: a power failure could
 * then lose animals.
 */
function chosenSynchronous(database: SqliteDatabase): SqliteSynchronous {
  const current = SYNCHRONOUS[Number(pragma(database, 'synchronous'))] ?? 'full'
  return current === 'normal' && pragma(database, 'journal_mode') === 'wal' ? 'full' : current
}

export function pragma(database: SqliteDatabase, text: string): unknown {
  const [row] = prepare(database, `PRAGMA ${text}`).all()
  return Object.values((row as object | undefined) ?? {})[0]
}

/**
 * SQLite does not wait for the lock that WAL mode needs, so this function waits and tries again.
 */
function useWal(database: SqliteDatabase): void {
  for (let tries = 1; pragma(database, 'journal_mode') === 'delete'; tries++) {
    try {
      pragma(database, 'journal_mode = WAL')
      return
    } catch (error) {
      if (tries > WAL_TRIES || resultCode(error) !== 'SQLITE_BUSY') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_PAUSE)
    }
  }
}

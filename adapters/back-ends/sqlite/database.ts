import { isBusy } from './errors.ts'

/** What is needed of a prepared statement. Bound values are texts, numbers and `null`. */
export interface SqliteStatement {
  /** Runs the statement, and returns its rows as objects. */
  all(...values: never[]): unknown[]
  /** Runs a statement without rows. */
  run(...values: never[]): unknown
}

/** What is needed of a connection: better-sqlite3, `node:sqlite`, `bun:sqlite` and libsql have it. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
}

/** A value for a driver. Integers are text, because the drivers differ in how they represent 64 bits. */
export type SqliteValue = string | number | null

/** A statement as this back end calls it. The drivers' types of bound values have nothing else in common. */
export interface Statement {
  all(...values: SqliteValue[]): unknown[]
  run(...values: SqliteValue[]): unknown
}

/** Prepares a statement. */
export function prepare(database: SqliteDatabase, sql: string): Statement {
  return database.prepare(sql) as Statement
}

/** What a commit waits for, as in `PRAGMA synchronous`. */
export type SqliteSynchronous = (typeof SYNCHRONOUS)[number]

/** The index of each setting is its number in SQLite. */
export const SYNCHRONOUS = ['off', 'normal', 'full', 'extra'] as const

/** The settings of a connection. */
export interface Settings {
  /** `undefined` keeps the host's setting. */
  readonly synchronous: SqliteSynchronous | undefined
  /** In milliseconds. `undefined` keeps the setting of the host or the driver, unless it is 0. */
  readonly busyTimeout: number | undefined
}

const DEFAULT_BUSY_TIMEOUT = 5_000
const WAL_TRIES = 250
const WAL_PAUSE = 20

/** Sets up a connection. The journal becomes a WAL, unless the host has changed SQLite's default. */
export function setUp(database: SqliteDatabase, { synchronous, busyTimeout }: Settings): void {
  const timeout = busyTimeout ?? (Number(pragma(database, 'busy_timeout')) || DEFAULT_BUSY_TIMEOUT)
  pragma(database, `busy_timeout = ${timeout}`)
  const chosen = synchronous ?? chosenSynchronous(database)
  useWal(database)
  database.exec(`PRAGMA synchronous = ${chosen}`)
}

/**
 * Returns the host's setting, or `full`. SQLite starts with `full`. Some drivers start with `normal` if the journal is a WAL, so there
 * `normal` is not the host's choice.
 */
function chosenSynchronous(database: SqliteDatabase): SqliteSynchronous {
  const current = SYNCHRONOUS[Number(pragma(database, 'synchronous'))] ?? 'full'
  return current === 'normal' && pragma(database, 'journal_mode') === 'wal' ? 'full' : current
}

function pragma(database: SqliteDatabase, text: string): unknown {
  const [row] = prepare(database, `PRAGMA ${text}`).all()
  return Object.values((row as object | undefined) ?? {})[0]
}

/** SQLite does not wait for the lock that a change of the journal needs, so concurrent processes try again. */
function useWal(database: SqliteDatabase): void {
  for (let left = WAL_TRIES; pragma(database, 'journal_mode') === 'delete'; left--) {
    try {
      pragma(database, 'journal_mode = WAL')
      return
    } catch (error) {
      if (left === 0 || !isBusy(error)) throw error
      pause(WAL_PAUSE)
    }
  }
}

function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

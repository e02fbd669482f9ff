import { isBusy } from './errors.ts'

/** What is needed of a prepared statement. The values that are bound are texts, numbers and `null`. */
export interface SqliteStatement {
  /** Runs the statement to its end, and gives its rows as objects. */
  all(...values: never[]): unknown[]
  /** Runs a statement that gives no rows. */
  run(...values: never[]): unknown
}

/** What is needed of a connection: better-sqlite3, `node:sqlite`, `bun:sqlite` and libsql have it. */
export interface SqliteDatabase {
  prepare(sql: string): SqliteStatement
  exec(sql: string): unknown
}

/** A value as it crosses a driver. Integers go as text, because the drivers differ in how they hand over 64 bits. */
export type SqliteValue = string | number | null

/** A statement as this back end calls it: the drivers' own types of what may be bound have nothing else in common. */
export interface Statement {
  all(...values: SqliteValue[]): unknown[]
  run(...values: SqliteValue[]): unknown
}

/** Prepares a statement. */
export function prepare(database: SqliteDatabase, sql: string): Statement {
  return database.prepare(sql) as Statement
}

/** How safe a commit is against a loss of power, as in `PRAGMA synchronous`. */
export type SqliteSynchronous = (typeof SYNCHRONOUS)[number]

/** By the numbers that SQLite has for them. */
export const SYNCHRONOUS = ['off', 'normal', 'full', 'extra'] as const

/** How a connection is set up. */
export interface Settings {
  /** `undefined` leaves what the host has set. */
  readonly synchronous: SqliteSynchronous | undefined
  /** In milliseconds; `undefined` leaves what the host or the driver has set, if that is not 0. */
  readonly busyTimeout: number | undefined
}

const DEFAULT_BUSY_TIMEOUT = 5_000
const WAL_TRIES = 250
const WAL_PAUSE = 20

/** Sets up a connection. The journal becomes a WAL, unless the host has chosen another than SQLite's default. */
export function setUp(database: SqliteDatabase, { synchronous, busyTimeout }: Settings): void {
  const timeout = busyTimeout ?? (Number(pragma(database, 'busy_timeout')) || DEFAULT_BUSY_TIMEOUT)
  pragma(database, `busy_timeout = ${timeout}`)
  const chosen = synchronous ?? chosenSynchronous(database)
  useWal(database)
  database.exec(`PRAGMA synchronous = ${chosen}`)
}

/**
 * What the host has set, or `full`. SQLite itself starts with `full`; some drivers start with `normal` where the journal is
 * a WAL, so that tells nothing of the host there.
 */
function chosenSynchronous(database: SqliteDatabase): SqliteSynchronous {
  const current = SYNCHRONOUS[Number(pragma(database, 'synchronous'))] ?? 'full'
  return current === 'normal' && pragma(database, 'journal_mode') === 'wal' ? 'full' : current
}

function pragma(database: SqliteDatabase, text: string): unknown {
  const [row] = prepare(database, `PRAGMA ${text}`).all()
  return Object.values((row as object | undefined) ?? {})[0]
}

/** SQLite does not wait by itself for the lock that a change of the journal needs, so several processes at once try again. */
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

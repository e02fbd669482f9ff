import { closeSync, openSync, readSync, statSync } from 'node:fs'
import { PetStoreError } from '../../../src/errors.ts'
import { describeValue } from '../../../src/support/describe-value.ts'
import { unavailable } from '../shared/errors.ts'
import { prepare, type SqliteDatabase } from './connection.ts'

/**
 * Returns the path of the file; an empty text for a database in memory. This is the first statement
 * on a connection, so it also checks the form of a row.
 * @throws {PetStoreError} `invalid_option`
 */
export function pathOf(database: SqliteDatabase): string {
  const rows: unknown = prepare(database, 'PRAGMA database_list').all()
  const main = Array.isArray(rows) ? rows.find((row) => row?.name === 'main') : undefined
  if (main !== undefined) return main.file ?? ''
  const received = Array.isArray(rows) ? `rows such as ${JSON.stringify(rows[0])}` : describeValue(rows)
  throw new PetStoreError(
    'invalid_option',
    `option database: expected a connection whose statements return rows such as {"name":"main"}, got ${received}: use a synchronous driver, without an option such as returnArrays`,
  )
}

/**
 * Returns a function that throws `service_unavailable` if the path no longer leads to the file that
 * was opened. On Unix, a process can read and write a file that was deleted, and what it has written
 * is lost when it ends.
 */
export function checkOfOpenedFile(path: string): () => void {
  const opened = identityOf(path)
  return () => {
    // A database in memory or on another machine has no file here.
    if (opened === undefined || identityOf(path) === opened) return
    const message = `the file ${path} was deleted or replaced while this process uses it, so it would read old data, and lose what it writes: put the same file back; or stop all processes that use it, move ${path}-wal and ${path}-shm away, because they would destroy the new file, and start again`
    throw unavailable(new Error(message))
  }
}

function identityOf(path: string): string | undefined {
  try {
    const { dev, ino } = statSync(path)
    return `${dev}:${ino}`
  } catch {
    return undefined
  }
}

/** Where a database file says how it is written, and the value for a file with a log. */
const WRITE_VERSION = { position: 18, withLog: 2 }

/**
 * Throws `service_unavailable` if the log beside a file belongs to another file: SQLite would apply
 * it, and destroy the file. It can tell only for a file that never had a log, such as a copy by
 * `VACUUM INTO`: SQLite marks a file before it creates the log. Call it before the first statement
 * that reads the file.
 */
export function requireOwnLog(path: string): void {
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false })
  if (log === undefined || log.size === 0 || writeVersionOf(path) === WRITE_VERSION.withLog) return
  const message = `the log ${path}-wal belongs to another file, and would destroy ${path}: stop all processes that use it, move ${path}-wal and ${path}-shm away, and start again`
  throw unavailable(new Error(message))
}

function writeVersionOf(path: string): number | undefined {
  const file = openSync(path, 'r')
  try {
    const header = new Uint8Array(WRITE_VERSION.position + 1)
    const bytesRead = readSync(file, header)
    // SQLite itself deletes the log of an empty file.
    return bytesRead === 0 ? WRITE_VERSION.withLog : header[WRITE_VERSION.position]
  } finally {
    closeSync(file)
  }
}

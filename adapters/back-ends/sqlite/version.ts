import { callOrLog } from '../../../src/reports/observers.ts'
import { pragma, prepare, type SqliteDatabase } from './connection.ts'

/** Reports a version of SQLite that may damage a file in WAL mode. */
export function reportVersion(database: SqliteDatabase, onError: (error: unknown) => void): void {
  const [{ version }] = prepare(database, 'SELECT sqlite_version() AS version').all() as [{ version: string }]
  if (pragma(database, 'journal_mode') !== 'wal' || !mayDamageFile(version)) return
  const message = `SQLite ${version} may damage a file that several connections use: use a driver with SQLite 3.51.3 or later, such as node:sqlite of Node 24.15 or 22.22.3, or better-sqlite3 12.8 (https://sqlite.org/wal.html#walresetbug)`
  callOrLog('onError', onError, logWarning, new Error(message))
}

export function logWarning(error: unknown): void {
  console.error(`petstore-kit: ${(error as Error).message}`)
}

/**
 * Returns whether a version has this fault: if one connection moves the log into the file while
 * another one commits, the commit may be lost. It is fixed in 3.51.3, 3.50.7 and 3.44.6.
 */
export function mayDamageFile(version: string): boolean {
  const [, minor = 0, patch = 0] = version.split('.').map(Number)
  if (minor === 44) return patch < 6
  if (minor === 50) return patch < 7
  return minor < 51 || (minor === 51 && patch < 3)
}

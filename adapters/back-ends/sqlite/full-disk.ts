import { systemClock } from '../../../src/support/time.ts'
import { prepare, type SqliteDatabase } from './connection.ts'
import { resultCode } from './errors.ts'

/** In milliseconds. While SQLite copies its log, this process does nothing else. */
const PERIOD = 1_000

/**
 * Returns a function to call with the error of a write. If the disk is full, moves the log into the
 * file, at most once a second. SQLite moves it only after a commit. So after a long reader has kept
 * the log until it has filled the disk, no write would succeed, even when the reader has gone.
 */
export function createLogMover(database: SqliteDatabase): (error: unknown) => void {
  const checkpoint = prepare(database, 'PRAGMA wal_checkpoint(TRUNCATE)')
  let nextAt = 0

  return (error) => {
    if (!isFullDisk(error) || systemClock.monotonic() < nextAt) return
    try {
      checkpoint.all()
    } catch {
      // The error of the write is reported.
    }
    nextAt = systemClock.monotonic() + PERIOD
  }
}

/** SQLite reports the end of a disk quota, or of the permitted size of a file, as SQLITE_IOERR. */
function isFullDisk(error: unknown): boolean {
  const code = resultCode(error)
  return code === 'SQLITE_FULL' || code === 'SQLITE_IOERR'
}

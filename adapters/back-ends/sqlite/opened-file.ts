import { statSync } from 'node:fs'
import { unavailable } from '../shared/errors.ts'
import { prepare, type SqliteDatabase } from './connection.ts'

/**
 * Returns a function that throws `service_unavailable` if the path of a database no longer leads to
 * the file that was opened. On Unix, a process can read and write a file that was deleted, and what
 * it has written is lost when it ends.
 */
export function checkOfOpenedFile(database: SqliteDatabase): () => void {
  const databases = prepare(database, 'PRAGMA database_list').all() as { name: string; file: string }[]
  const path = databases.find(({ name }) => name === 'main')?.file ?? ''
  const opened = identityOf(path)
  return () => {
    // A database in memory or on another machine has no file here.
    if (opened === undefined || identityOf(path) === opened) return
    const message = `the file ${path} was deleted or replaced while this process uses it, so it would read old data, and lose what it writes: put the same file back, or stop this process and start it again`
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

import { isPetStoreError } from '../../src/door.ts'
import type { SqliteDatabase } from './database.ts'
import { guarded } from './errors.ts'

/** Does work as one transaction that is alone in writing, in this process and in others. */
export function inTransaction<T>(database: SqliteDatabase, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    rollBack(database)
    throw error
  }
}

/** SQLite has rolled back by itself after some errors, such as a full disk; then there is nothing left to roll back. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // The error that led here says more.
  }
}

/** Writes: what is asked for in one turn of the event loop becomes one transaction. */
export interface Writer {
  /** Does work inside a transaction, and resolves when it is durable. The work may be done twice, the first time in vain. */
  write<T>(work: () => T): Promise<T>
}

interface Job {
  readonly work: () => unknown
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** So that other processes get their turn, and other requests of this one. */
const LARGEST_GROUP = 500

/**
 * Makes the writer of one connection.
 *
 * A commit waits for the disk. To group what came at once costs a busy server one such wait a turn, not one a request.
 */
export function createWriter(database: SqliteDatabase): Writer {
  let waiting: Job[] = []

  function flush(): void {
    const group = waiting.slice(0, LARGEST_GROUP)
    waiting = waiting.slice(LARGEST_GROUP)
    if (waiting.length > 0) setImmediate(flush)
    commit(database, group)
  }

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) setImmediate(flush)
        waiting.push({ work, resolve, reject })
      }),
  }
}

function commit(database: SqliteDatabase, group: readonly Job[]): void {
  try {
    const results = guarded(() => inTransaction(database, () => group.map(({ work }) => work())))
    group.forEach(({ resolve }, i) => void resolve(results[i] as never))
  } catch (error) {
    // What is wrong with one job must not fail the others; what keeps all from the file would only take its time again.
    const isForAll = group.length === 1 || (isPetStoreError(error) && error.code === 'service_unavailable')
    if (isForAll) for (const { reject } of group) reject(error)
    else for (const job of group) commit(database, [job])
  }
}

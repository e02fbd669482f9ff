import { isPetStoreError } from '../../../src/errors.ts'
import { atEndOfTurn } from '../shared/end-of-turn.ts'
import { guarded, type SqliteDatabase } from './connection.ts'

export function inTransaction<T>(database: SqliteDatabase, work: () => T): T {
  database.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    database.exec('COMMIT')
    return result
  } catch (error) {
    try {
      database.exec('ROLLBACK')
    } catch {
      // SQLite has already rolled back, for example because the disk is full.
    }
    throw error
  }
}

/** The functions that a transaction calls just before its commit. */
export type Transaction = (() => void)[]

type Work<T> = (transaction: Transaction) => T

/** Resolves after the commit. `work` may run twice: after a rollback, it runs again. */
export type Write = <T>(work: Work<T>) => Promise<T>

interface Job {
  readonly work: Work<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** A larger transaction would keep other processes and requests waiting. */
const LARGEST_GROUP = 500

/** Writes of one turn of the event loop share a transaction, because each commit waits for the disk. */
export function createWriter(database: SqliteDatabase): Write {
  const waiting: Job[] = []

  function flush(): void {
    const group = waiting.splice(0, LARGEST_GROUP)
    if (waiting.length > 0) atEndOfTurn(flush)
    commit(database, group)
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) atEndOfTurn(flush)
      waiting.push({ work, resolve, reject })
    })
}

function commit(database: SqliteDatabase, group: readonly Job[]): void {
  try {
    const results = guarded(() => inTransaction(database, () => doAll(group)))
    group.forEach(({ resolve }, i) => void resolve(results[i] as never))
  } catch (error) {
    // Repeat each job alone, so that one failure does not reject the others. But if the file cannot be used, reject all jobs.
    const isForAll = group.length === 1 || (isPetStoreError(error) && error.code === 'service_unavailable')
    if (isForAll) for (const { reject } of group) reject(error)
    else for (const job of group) commit(database, [job])
  }
}

function doAll(group: readonly Job[]): unknown[] {
  const transaction: Transaction = []
  const results = group.map(({ work }) => work(transaction))
  for (const finish of transaction) finish()
  return results
}

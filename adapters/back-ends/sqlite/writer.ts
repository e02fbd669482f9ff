import { isPetStoreError } from '../../../src/errors.ts'
import { atEndOfEventLoopTurn } from '../shared/event-loop-turn.ts'
import type { SqliteDatabase } from './connection.ts'
import { guarded } from './errors.ts'

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

/** The transaction that several jobs share. */
export interface Transaction {
  /** Calls a function after the last job, just before the commit. */
  beforeCommit(finish: () => void): void
}

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

/**
 * Writes of one turn of the event loop share a transaction, because each commit waits for the disk.
 * If `check` throws, they fail.
 */
export function createWriter(database: SqliteDatabase, check: () => void): Write {
  const waiting: Job[] = []

  function commit(group: readonly Job[]): void {
    try {
      check()
      const settle = guarded(() => inTransaction(database, () => runJobs(group)))
      settle()
    } catch (error) {
      const isUnavailable = isPetStoreError(error) && error.code === 'service_unavailable'
      if (isUnavailable || group.length === 1) {
        for (const { reject } of group) reject(error)
        return
      }
      // Repeat each job alone, so that one failure does not reject the others.
      for (const job of group) commit([job])
    }
  }

  function flush(): void {
    const group = waiting.splice(0, LARGEST_GROUP)
    if (waiting.length > 0) atEndOfEventLoopTurn(flush)
    commit(group)
  }

  return (work) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) atEndOfEventLoopTurn(flush)
      waiting.push({ work, resolve, reject })
    })
}

/**
 * Does the work of all jobs. Returns a function that resolves them, to be called after the commit.
 */
function runJobs(group: readonly Job[]): () => void {
  const finishers: (() => void)[] = []
  const transaction: Transaction = {
    beforeCommit: (finish) => {
      finishers.push(finish)
    },
  }
  const results = group.map(({ work, resolve }) => ({ value: work(transaction), resolve }))
  for (const finish of finishers) finish()
  return () => {
    for (const { value, resolve } of results) resolve(value as never)
  }
}

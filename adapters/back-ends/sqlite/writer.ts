import { isPetStoreError } from '../../../src/errors.ts'
import { atEndOfTurn } from '../../shared/end-of-turn.ts'
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

/** One transaction, while its works are done. */
export interface Transaction {
  /** Does this once after all works, as the last before the commit. */
  beforeCommit(work: () => void): void
}

/** Work inside a transaction, which it may share with others. */
type Work<T> = (transaction: Transaction) => T

/** Writes: what is asked for in one turn of the event loop becomes one transaction. */
export interface Writer {
  /** Does work inside a transaction, and resolves when it is durable. The work may be done twice, the first time in vain. */
  write<T>(work: Work<T>): Promise<T>
}

interface Job {
  readonly work: Work<unknown>
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
    if (waiting.length > 0) atEndOfTurn(flush)
    commit(database, group)
  }

  return {
    write: (work) =>
      new Promise((resolve, reject) => {
        if (waiting.length === 0) atEndOfTurn(flush)
        waiting.push({ work, resolve, reject })
      }),
  }
}

function commit(database: SqliteDatabase, group: readonly Job[]): void {
  try {
    const results = guarded(() => inTransaction(database, () => doAll(group)))
    group.forEach(({ resolve }, i) => void resolve(results[i] as never))
  } catch (error) {
    // What is wrong with one job must not fail the others; what keeps all from the file would only take its time again.
    const isForAll = group.length === 1 || (isPetStoreError(error) && error.code === 'service_unavailable')
    if (isForAll) for (const { reject } of group) reject(error)
    else for (const job of group) commit(database, [job])
  }
}

function doAll(group: readonly Job[]): unknown[] {
  const last: (() => void)[] = []
  const transaction: Transaction = { beforeCommit: (work) => void last.push(work) }
  const results = group.map(({ work }) => work(transaction))
  for (const work of last) work()
  return results
}

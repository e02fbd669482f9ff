import { isPetStoreError } from '../../../src/errors.ts'
import { atEndOfTurn } from '../../shared/end-of-turn.ts'
import type { SqliteDatabase } from './database.ts'
import { guarded } from './errors.ts'

/** Runs work in a transaction that excludes all other writers. */
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

/** After some errors, such as a full disk, SQLite has already rolled back. */
function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // The first error says more.
  }
}

/** A running transaction. */
export interface Transaction {
  /** Calls a function just before the commit. */
  beforeCommit(work: () => void): void
}

/** Work inside a transaction, which other work may share. */
type Work<T> = (transaction: Transaction) => T

/** Groups the writes of one turn of the event loop into a transaction. */
export interface Writer {
  /** Runs work inside a transaction, and resolves when it is durable. The work may be repeated after a rollback. */
  write<T>(work: Work<T>): Promise<T>
}

interface Job {
  readonly work: Work<unknown>
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** The largest group, so that other processes and requests get their turn. */
const LARGEST_GROUP = 500

/**
 * Creates the writer of a connection. A commit waits for the disk, so a busy server needs one such wait per turn instead of one per
 * request.
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
    // One wrong job must not fail the others. If the file cannot be used, repeating the jobs would only take time.
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

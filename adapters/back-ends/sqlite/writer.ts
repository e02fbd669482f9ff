import { isPetStoreError } from '../../../src/errors.ts'
import type { CallContext } from '../../../src/index.ts'
import { abortReason, systemClock } from '../../../src/support/time.ts'
import { atEndOfEventLoopTurn } from '../shared/event-loop-turn.ts'
import type { SqliteDatabase } from './connection.ts'
import { isLocked, translated } from './errors.ts'
import { createLogMover } from './full-disk.ts'
import { LOCK_PAUSE, lockedFor } from './locks.ts'

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

/**
 * Resolves after the commit. `work` may run twice: after a rollback, it runs again. A call that
 * waits for another process never starts after its signal has aborted.
 */
export type Write = <T>(work: Work<T>, context?: CallContext) => Promise<T>

interface Job {
  readonly work: Work<unknown>
  readonly context: CallContext | undefined
  /** By a clock that never steps back, in milliseconds. */
  readonly arrivedAt: number
  readonly resolve: (result: never) => void
  readonly reject: (error: unknown) => void
}

/** A larger transaction would keep other processes and requests waiting. */
const LARGEST_GROUP = 500

interface WriterOptions {
  /** Throws if the file must not be written. */
  readonly check: () => void
  /** How long a job waits for another process that writes, in milliseconds. */
  readonly busyTimeout: number
}

/**
 * Returns a function that writes. Writes of one turn of the event loop share a transaction, because
 * each commit waits for the disk. While another process writes, all jobs wait in the order of their
 * arrival, outside the driver: a driver that waits stops this whole process.
 */
export function createWriter(database: SqliteDatabase, { check, busyTimeout }: WriterOptions): Write {
  /** While this list has a job, `flush` or `retry` is scheduled. */
  const waiting: Job[] = []
  const moveLogIfFull = createLogMover(database)

  function flush(): void {
    const locked = commit(waiting.splice(0, LARGEST_GROUP))
    waiting.unshift(...locked)
    if (locked.length > 0) setTimeout(retry, LOCK_PAUSE)
    else if (waiting.length > 0) atEndOfEventLoopTurn(flush)
  }

  function retry(): void {
    const now = systemClock.monotonic()
    for (const job of waiting.splice(0)) {
      const signal = job.context?.signal
      if (signal?.aborted) job.reject(abortReason(signal))
      else if (now - job.arrivedAt < busyTimeout) waiting.push(job)
      else job.reject(lockedFor(busyTimeout))
    }
    if (waiting.length > 0) flush()
  }

  /** Returns the jobs that have to wait, because another process has locked the file. */
  function commit(group: readonly Job[]): readonly Job[] {
    try {
      check()
      const settle = inTransaction(database, () => runJobs(group))
      settle()
      return []
    } catch (error) {
      if (isLocked(error)) return group
      moveLogIfFull(error)
      const fault = translated(error)
      // Repeat each job alone, so that one failure does not reject the others.
      if (!isPetStoreError(fault) && group.length > 1) return group.flatMap((job) => commit([job]))
      for (const { reject } of group) reject(fault)
      return []
    }
  }

  return (work, context) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) atEndOfEventLoopTurn(flush)
      waiting.push({ work, context, arrivedAt: systemClock.monotonic(), resolve, reject })
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

import { countRequest, newQuotaState, peekCount, type QuotaState } from '../../../src/back-end.ts'
import type { CallContext, Clock, QuotaCount, QuotaCounter, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { MINUTE } from '../../../src/support/time.ts'
import { bucketOf, subjectName } from '../shared/counters.ts'
import { pruneSchedule } from '../shared/prune.ts'
import { prepareAll, type SqliteDatabase } from './connection.ts'
import type { Read } from './locks.ts'
import { countStatements } from './statements.ts'
import type { Transaction, Write } from './writer.ts'

interface Row {
  readonly state: string
  readonly ends_at: number
}

/** The counter of a subject in one transaction. */
interface Counter {
  /** The row in the table, as the transaction has read it. */
  readonly row: Row | undefined
  /** `null` for a client with a key. */
  readonly bucket: number | null
  /** The state after the requests that the transaction has counted so far. */
  readonly state: QuotaState
}

/**
 * Requests of one turn of the event loop share a transaction. It excludes other writers, and reads
 * and writes each counter once.
 *
 * SQLite has no server with its own clock, so the time of the request is used. That is safe,
 * because all processes that share a file run on one machine. `clock` only measures how long a
 * request waits.
 */
export function sqliteQuota(
  database: SqliteDatabase,
  { read: readFile, write }: { readonly read: Read; readonly write: Write },
  clock: Clock,
): QuotaStore {
  const { read, update, replace, makeRoom, prune } = prepareAll(database, countStatements)
  /** The counters that each transaction has read, by their subjects. */
  const countersOf = new WeakMap<Transaction, Map<string, Counter>>()
  const isPruneDue = pruneSchedule()

  /** Returns a map for the counters of a transaction, which saves them before its commit. */
  function openCounters(transaction: Transaction): Map<string, Counter> {
    const counters = new Map<string, Counter>()
    countersOf.set(transaction, counters)
    transaction.beforeCommit(() => {
      for (const [subject, counter] of counters) save(subject, counter)
    })
    return counters
  }

  function readState(subject: string): { readonly row: Row | undefined; readonly state: QuotaState } {
    const [row] = read.all(subject) as Row[]
    return { row, state: row ? JSON.parse(row.state) : newQuotaState() }
  }

  /** Returns the counter of a subject. The first call in a transaction reads it. */
  function counterOf({ subject, anonymous }: QuotaCounter, transaction: Transaction): Counter {
    const counters = countersOf.get(transaction) ?? openCounters(transaction)
    const known = counters.get(subject)
    if (known) return known
    const counter = { ...readState(subject), bucket: anonymous ? bucketOf(subject) : null }
    counters.set(subject, counter)
    return counter
  }

  /**
   * Uses `replace` only for a new `ends_at`, because `replace` also writes the index. Writes
   * nothing during a ban.
   */
  function save(subject: string, { row, bucket, state }: Counter): void {
    if (row === undefined && bucket !== null) makeRoom.run(bucket)
    const text = JSON.stringify(state)
    const endsAt = Math.max(state.minuteEndsAt, state.dayEndsAt, state.bannedUntil)
    if (row?.ends_at !== endsAt) replace.run(subject, text, endsAt, bucket)
    else if (row.state !== text) update.run(text, subject)
  }

  function count(request: QuotaRequest, askedAt: number, transaction: Transaction): QuotaCount {
    const { state } = counterOf(request, transaction)
    return countRequest(state, { ...request, now: afterWaiting(request.now, clock.now() - askedAt, state) })
  }

  async function spend(request: QuotaRequest, context?: CallContext): Promise<QuotaCount> {
    const askedAt = clock.now()
    const prunes = isPruneDue()
    const subject = await subjectName(request.subject)
    return write((transaction) => {
      const counted = count({ ...request, subject }, askedAt, transaction)
      // Delete old counters inside the transaction, so that an error rejects this request and is
      // reported.
      if (prunes) transaction.beforeCommit(() => prune.run(request.now))
      return counted
    }, context)
  }

  async function reset(counter: QuotaCounter, context?: CallContext): Promise<void> {
    const subject = await subjectName(counter.subject)
    await write((transaction) => {
      const { state } = counterOf({ ...counter, subject }, transaction)
      Object.assign(state, newQuotaState())
    }, context)
  }

  return {
    spend,
    async peek(request) {
      const subject = await subjectName(request.subject)
      return readFile(() => peekCount(readState(subject).state, request))
    },
    reset,
  }
}

/**
 * Returns the time at which to count a request: `now`, which was read before the request waited. If
 * another process began a new minute meanwhile, returns the start of that minute: `countRequest`
 * would treat `now` as a clock that was set back.
 */
function afterWaiting(now: number, waited: number, { minuteEndsAt }: QuotaState): number {
  const minuteBegan = minuteEndsAt - MINUTE
  return now < minuteBegan && minuteBegan <= now + waited ? minuteBegan : now
}

import { countRequest, newQuotaState, peekCount, type QuotaState } from '../../../src/back-end.ts'
import type { CallContext, Clock, QuotaCount, QuotaCounter, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { MINUTE } from '../../../src/support/time.ts'
import { bucketOf, subjectName } from '../shared/counters.ts'
import { pruneSchedule } from '../shared/prune.ts'
import { prepareAll, type SqliteDatabase } from './connection.ts'
import type { Read } from './locks.ts'
import { quotaStatements } from './statements.ts'
import type { Transaction, Write } from './writer.ts'

/** The counter of a subject in one transaction. */
interface Counter {
  /** The state as JSON, as the transaction has read it; `undefined` for a new subject. */
  readonly stored: string | undefined
  /** `null` for a client with a key. */
  readonly bucket: number | null
  /** The state after the requests that the transaction has counted so far. */
  readonly state: QuotaState
  /** The last of these requests. */
  last?: QuotaCount
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
  { read, write }: { readonly read: Read; readonly write: Write },
  clock: Clock,
): QuotaStore {
  const statements = prepareAll(database, quotaStatements)
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

  function readCounter(subject: string): Pick<Counter, 'stored' | 'state'> {
    const [row] = statements.counter.all(subject) as [{ readonly state: string }?]
    return { stored: row?.state, state: row ? JSON.parse(row.state) : newQuotaState() }
  }

  /** Returns the counter of a subject. The first call in a transaction reads it. */
  function counterOf({ subject, anonymous }: QuotaCounter, transaction: Transaction): Counter {
    const counters = countersOf.get(transaction) ?? openCounters(transaction)
    const known = counters.get(subject)
    if (known) return known
    const counter = { ...readCounter(subject), bucket: anonymous ? bucketOf(subject) : null }
    counters.set(subject, counter)
    return counter
  }

  /** Writes nothing if the state has not changed, as during a ban. */
  function save(subject: string, { stored, bucket, state, last }: Counter): void {
    if (stored === JSON.stringify(state)) return
    if (stored === undefined && bucket !== null) statements.makeRoom.run(bucket)
    const { usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, refusedInMinute, bannedUntil } = state
    const counts = [usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, refusedInMinute, bannedUntil]
    statements.save.run(subject, bucket, ...counts, last?.now ?? 0, Number(last?.granted ?? false))
  }

  function count(request: QuotaRequest, askedAt: number, transaction: Transaction): QuotaCount {
    const counter = counterOf(request, transaction)
    const now = afterWaiting(Math.floor(request.now), clock.now() - askedAt, counter.state)
    counter.last = countRequest(counter.state, { ...request, now })
    return counter.last
  }

  async function spend(request: QuotaRequest, context?: CallContext): Promise<QuotaCount> {
    const askedAt = clock.now()
    const prunes = isPruneDue()
    const subject = await subjectName(request.subject)
    return write((transaction) => {
      const counted = count({ ...request, subject }, askedAt, transaction)
      // Delete old counters inside the transaction, so that an error rejects this request and is
      // reported.
      if (prunes) transaction.beforeCommit(() => statements.prune.run(request.now))
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
      return read(() => peekCount(readCounter(subject).state, request))
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

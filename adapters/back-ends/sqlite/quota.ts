import {
  type Clock,
  countRequest,
  newQuotaState,
  type QuotaCount,
  type QuotaRequest,
  type QuotaState,
  type QuotaStore,
} from '../../../src/index.ts'
import { bucketOf } from '../shared/anonymous-buckets.ts'
import { subjectName } from '../shared/subject.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import { PRUNE_EVERY, prunedBefore, quotaStatements } from './quota-table.ts'
import type { Transaction, Writer } from './writer.ts'

const MINUTE = 60_000

interface Row {
  readonly state: string
  readonly ends_at: number
}

/** A subject as a transaction has found it, and its state now. */
interface Entry {
  readonly row: Row | undefined
  /** The bucket of an anonymous client; `null` for a customer. */
  readonly bucket: number | null
  readonly state: QuotaState
  /** The time of the first request. */
  readonly now: number
}

/**
 * Counts in a table with `countRequest` itself, in transactions that exclude other writers. Requests of one turn of the event loop
 * share a transaction, in which each subject is read and written once.
 *
 * SQLite has no clock, so the request's time counts: all processes on one file are on one machine. The clock only measures how long
 * a request has waited.
 */
export function sqliteQuota(database: SqliteDatabase, { write }: Writer, clock: Clock): QuotaStore {
  const read = prepare(database, 'SELECT state, ends_at FROM petstore_quota WHERE subject = ?')
  const update = prepare(database, 'UPDATE petstore_quota SET state = ? WHERE subject = ?')
  const replace = prepare(
    database,
    'INSERT OR REPLACE INTO petstore_quota (subject, state, ends_at, bucket) VALUES (?, ?, ?, ?)',
  )
  const prune = prepare(database, quotaStatements.prune)
  const makeRoom = prepare(database, quotaStatements.makeRoom)
  let transactions = 0

  let entries = new Map<string, Entry>()
  let current: Transaction | undefined

  /** A subject is read once in a transaction, because nothing else writes meanwhile. */
  function entryOf({ subject, anonymous, now }: QuotaRequest, transaction: Transaction): Entry {
    if (transaction !== current) {
      current = transaction
      entries = new Map()
      transaction.beforeCommit(saveAll)
    }
    const known = entries.get(subject)
    if (known) return known
    const [row] = read.all(subject) as Row[]
    const entry = {
      row,
      bucket: anonymous ? bucketOf(subject) : null,
      state: row ? (JSON.parse(row.state) as QuotaState) : newQuotaState(),
      now,
    }
    entries.set(subject, entry)
    return entry
  }

  function saveAll(): void {
    for (const [subject, entry] of entries) save(subject, entry)
    const now = entries.values().next().value?.now ?? 0
    if (transactions++ % PRUNE_EVERY === 0) prune.run(prunedBefore(now))
  }

  /** Updates the index only when a window ends, and nothing if the state has not changed, as during a ban. */
  function save(subject: string, { row, bucket, state }: Entry): void {
    if (row === undefined && bucket !== null) makeRoom.run(bucket)
    const text = JSON.stringify(state)
    const endsAt = Math.max(state.minuteEndsAt, state.dayEndsAt, state.bannedUntil)
    if (row?.ends_at !== endsAt) replace.run(subject, text, endsAt, bucket)
    else if (row.state !== text) update.run(text, subject)
  }

  function spend(request: QuotaRequest, subject: string): Promise<QuotaCount> {
    const askedAt = clock.now()
    return write((transaction) => {
      const { state } = entryOf({ ...request, subject }, transaction)
      return countRequest(state, { ...request, now: afterWaiting(request.now, clock.now() - askedAt, state) })
    })
  }

  return {
    spend(request) {
      const name = subjectName(request.subject)
      return typeof name === 'string' ? spend(request, name) : name.then((name) => spend(request, name))
    },
  }
}

/**
 * Returns the time of a request that may have waited. If another process has opened a new minute meanwhile, the request counts in
 * that minute: its own time would look like a clock that stepped back.
 */
function afterWaiting(now: number, waited: number, { minuteEndsAt }: QuotaState): number {
  const minuteBegan = minuteEndsAt - MINUTE
  return now < minuteBegan && minuteBegan <= now + waited ? minuteBegan : now
}

import { countRequest, newQuotaState, peekCount, type QuotaState } from '../../../src/back-end.ts'
import type { Clock, QuotaCount, QuotaCounter, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { andThen } from '../../../src/support/maybe-promise.ts'
import { bucketOf, subjectName } from '../shared/counters.ts'
import { prepareAll, type SqliteDatabase } from './connection.ts'
import { countStatements, PRUNE_EVERY } from './statements.ts'
import type { Transaction, Write } from './writer.ts'

const MINUTE = 60_000

interface Row {
  readonly state: string
  readonly ends_at: number
}

interface Entry {
  readonly row: Row | undefined
  /** `null` for a client with a key. */
  readonly bucket: number | null
  /** The state after the requests that the transaction has counted so far. */
  readonly state: QuotaState
}

/**
 * Requests of one turn of the event loop share a transaction. It excludes other writers, and reads and writes each counter once.
 *
 * SQLite has no server with its own clock, so the time of the request is used. That is safe, because all processes that share a
 * file run on one machine. `clock` only measures how long a request waits.
 */
export function sqliteQuota(database: SqliteDatabase, write: Write, clock: Clock): QuotaStore {
  const { read, update, replace, makeRoom, prune } = prepareAll(database, countStatements)
  let requests = 0

  let entries = new Map<string, Entry>()
  let current: Transaction | undefined

  /** Returns the entry of a subject. The first call in a transaction also registers `save` to run before the commit. */
  function entryOf({ subject, anonymous }: QuotaCounter, transaction: Transaction): Entry {
    if (transaction !== current) {
      current = transaction
      entries = new Map()
      transaction.push(() => entries.forEach(save))
    }
    const known = entries.get(subject)
    if (known) return known
    const [row] = read.all(subject) as Row[]
    const entry = {
      row,
      bucket: anonymous ? bucketOf(subject) : null,
      state: stateOf(row),
    }
    entries.set(subject, entry)
    return entry
  }

  /** Uses `replace` only for a new `ends_at`, because `replace` also writes the index. Writes nothing during a ban. */
  function save({ row, bucket, state }: Entry, subject: string): void {
    if (row === undefined && bucket !== null) makeRoom.run(bucket)
    const text = JSON.stringify(state)
    const endsAt = Math.max(state.minuteEndsAt, state.dayEndsAt, state.bannedUntil)
    if (row?.ends_at !== endsAt) replace.run(subject, text, endsAt, bucket)
    else if (row.state !== text) update.run(text, subject)
  }

  function spend(request: QuotaRequest, subject: string): Promise<QuotaCount> {
    const askedAt = clock.now()
    const prunes = requests++ % PRUNE_EVERY === 0
    return write((transaction) => {
      const { state } = entryOf({ ...request, subject }, transaction)
      // Delete old counters inside the transaction, so that an error rejects this request and is reported.
      if (prunes) transaction.push(() => prune.run(request.now))
      return countRequest(state, { ...request, now: afterWaiting(request.now, clock.now() - askedAt, state) })
    })
  }

  function stateOf(row: Row | undefined): QuotaState {
    return row ? (JSON.parse(row.state) as QuotaState) : newQuotaState()
  }

  return {
    spend: (request) => andThen(subjectName(request.subject), (subject) => spend(request, subject)),
    peek: (request) =>
      andThen(subjectName(request.subject), (subject) => peekCount(stateOf((read.all(subject) as Row[])[0]), request)),
    async reset(counter) {
      const subject = await subjectName(counter.subject)
      await write(
        (transaction) => void Object.assign(entryOf({ ...counter, subject }, transaction).state, newQuotaState()),
      )
    },
  }
}

/**
 * Returns the time at which to count a request: `now`, which was read before the request waited. If another process began a
 * new minute meanwhile, returns the start of that minute: `countRequest` would treat `now` as a clock that was set back.
 */
function afterWaiting(now: number, waited: number, { minuteEndsAt }: QuotaState): number {
  const minuteBegan = minuteEndsAt - MINUTE
  return now < minuteBegan && minuteBegan <= now + waited ? minuteBegan : now
}

import {
  type Clock,
  countRequest,
  newQuotaState,
  type QuotaCount,
  type QuotaRequest,
  type QuotaState,
  type QuotaStore,
} from '../../../src/index.ts'
import { subjectName } from '../shared/subject.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import type { Transaction, Writer } from './writer.ts'

const MINUTE = 60_000
/** A subject is forgotten this long after all of its windows have ended, in milliseconds: clocks may step back. */
const KEPT_FOR = 2 * 86_400_000
/** How many that have ended are removed for each that is new, so that the table shrinks and no request waits long. */
const REMOVED_AT_ONCE = 4

interface Row {
  readonly state: string
  readonly ends_at: number
}

/** A subject as a transaction found it, and as it stands now. */
interface Entry {
  readonly row: Row | undefined
  readonly state: QuotaState
  /** The time of the first request. */
  readonly now: number
}

/**
 * Counts in a table, by the law itself: requests read, count and write while nobody else can write. Those of one turn of
 * the event loop share a transaction, and each subject among them is read and written once.
 *
 * SQLite has no time of its own, so that of the request counts: all processes on one file are on one machine. The clock
 * tells only how long a request has waited.
 */
export function sqliteQuota(database: SqliteDatabase, { write }: Writer, clock: Clock): QuotaStore {
  const read = prepare(database, 'SELECT state, ends_at FROM petstore_quota WHERE subject = ?')
  const update = prepare(database, 'UPDATE petstore_quota SET state = ? WHERE subject = ?')
  const replace = prepare(database, 'INSERT OR REPLACE INTO petstore_quota (subject, state, ends_at) VALUES (?, ?, ?)')
  const remove = prepare(
    database,
    `DELETE FROM petstore_quota WHERE subject IN
    (SELECT subject FROM petstore_quota WHERE ends_at < ? ORDER BY ends_at LIMIT ${REMOVED_AT_ONCE})`,
  )

  let entries = new Map<string, Entry>()
  let current: Transaction | undefined

  /** What a transaction has read or counted, it need not read again: nobody else writes meanwhile. */
  function entryOf({ subject, now }: QuotaRequest, transaction: Transaction): Entry {
    if (transaction !== current) {
      current = transaction
      entries = new Map()
      transaction.beforeCommit(saveAll)
    }
    const known = entries.get(subject)
    if (known) return known
    const [row] = read.all(subject) as Row[]
    const entry = { row, state: row ? (JSON.parse(row.state) as QuotaState) : newQuotaState(), now }
    entries.set(subject, entry)
    return entry
  }

  function saveAll(): void {
    for (const [subject, entry] of entries) save(subject, entry)
    for (const { row, now } of entries.values()) if (row === undefined) remove.run(now - KEPT_FOR)
  }

  /** The index is touched only when a window ends, and nothing at all where nothing has changed, as during a ban. */
  function save(subject: string, { row, state }: Entry): void {
    const text = JSON.stringify(state)
    const endsAt = Math.max(state.minuteEndsAt, state.dayEndsAt, state.bannedUntil)
    if (row?.ends_at !== endsAt) replace.run(subject, text, endsAt)
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
 * The time of a request that may have waited for its turn to write: where another process has opened a new minute
 * meanwhile, it counts in that one. Its own time would look like a clock that was set back.
 */
function afterWaiting(now: number, waited: number, { minuteEndsAt }: QuotaState): number {
  const minuteBegan = minuteEndsAt - MINUTE
  return now < minuteBegan && minuteBegan <= now + waited ? minuteBegan : now
}

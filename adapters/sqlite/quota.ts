import {
  countRequest,
  newQuotaState,
  type QuotaCount,
  type QuotaRequest,
  type QuotaState,
  type QuotaStore,
} from '../../src/index.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import type { Writer } from './writer.ts'

/** A subject is forgotten this long after all of its windows have ended, in milliseconds: clocks may step back. */
const KEPT_FOR = 2 * 86_400_000
/** How many that have ended are removed for each that is new, so that the table shrinks and no request waits long. */
const REMOVED_AT_ONCE = 4

interface Row {
  readonly state: string
  readonly ends_at: number
}

/**
 * Counts in a table, by the law itself: each request reads, counts and writes while nobody else can write.
 *
 * SQLite has no time of its own, so that of the request counts: all processes on one file are on one machine.
 */
export function sqliteQuota(database: SqliteDatabase, { write }: Writer): QuotaStore {
  const read = prepare(database, 'SELECT state, ends_at FROM petstore_quota WHERE subject = ?')
  const update = prepare(database, 'UPDATE petstore_quota SET state = ? WHERE subject = ?')
  const replace = prepare(database, 'INSERT OR REPLACE INTO petstore_quota (subject, state, ends_at) VALUES (?, ?, ?)')
  const remove = prepare(
    database,
    `DELETE FROM petstore_quota WHERE subject IN
    (SELECT subject FROM petstore_quota WHERE ends_at < ? ORDER BY ends_at LIMIT ${REMOVED_AT_ONCE})`,
  )

  function count(request: QuotaRequest): QuotaCount {
    const [row] = read.all(request.subject) as Row[]
    const state = row ? (JSON.parse(row.state) as QuotaState) : newQuotaState()
    const result = countRequest(state, request)
    save(request, row, state)
    return result
  }

  /** The index is touched only when a window ends, and nothing at all where nothing has changed, as during a ban. */
  function save({ subject, now }: QuotaRequest, row: Row | undefined, state: QuotaState): void {
    const text = JSON.stringify(state)
    const endsAt = Math.max(state.minuteEndsAt, state.dayEndsAt, state.bannedUntil)
    if (row?.ends_at !== endsAt) replace.run(subject, text, endsAt)
    else if (row.state !== text) update.run(text, subject)
    if (row === undefined) remove.run(now - KEPT_FOR)
  }

  return { spend: (request) => write(() => count(request)) }
}

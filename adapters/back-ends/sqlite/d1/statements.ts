import { DAY } from '../../../../src/support/time.ts'
import { COUNT_COLUMNS, countingSql } from '../../shared/counting-sql.ts'
import { ENGINE_TIME, makeRoomStatement, pruneStatement } from '../statements.ts'

/**
 * The member of the JSON `state` for a column of the counting rule: `usedInDay` for `used_in_day`.
 */
const memberOf = (column: string) => column.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())

/** SQL for the end of the day in which a ban that begins now would end. */
const ENDS_AT = `((now + coalesce(CAST(?5 AS INTEGER), 0)) / ${DAY} + 1) * ${DAY}`

/** The requests that the next statement counts. */
const LAST = ['counted_at', 'per_minute', 'per_day', 'after_refusals', 'ban_length', 'requests']

const kept = [...COUNT_COLUMNS, ...LAST].map((column) => `petstore_quota.state ->> '${memberOf(column)}' AS ${column}`)

/**
 * Stores a request, counts the one before it, and returns the state between the two: see `COUNTERS`
 * in `postgres/schema.ts`.
 *
 * Its parameters:
 * - `?1`: the subject;
 * - `?2` and `?3`: the limits per minute and per day;
 * - `?4` and `?5`: the ban rule, refusals and milliseconds; null for no bans;
 * - `?6`: the time; null for D1's time;
 * - `?7`: the bucket of an anonymous client; null for a client with a key.
 *
 * D1 passes numbers as floating point, so they are cast before integer division.
 */
const spend = `INSERT INTO petstore_quota (subject, state, ends_at, bucket)
SELECT ?1, json_object(${COUNT_COLUMNS.map((column) => `'${memberOf(column)}', 0`).join(', ')}, 'countedAt', now, 'perMinute', CAST(?2 AS INTEGER),
  'perDay', CAST(?3 AS INTEGER), 'afterRefusals', CAST(?4 AS INTEGER), 'banLength', CAST(?5 AS INTEGER), 'requests', 1,
  'endsAt', ${ENDS_AT}), ${ENDS_AT}, ?7
FROM (SELECT CAST(coalesce(?6, ${ENGINE_TIME}) AS INTEGER) AS now) WHERE true
ON CONFLICT (subject) DO UPDATE SET state = (
  SELECT json_patch(excluded.state, json_object(${COUNT_COLUMNS.map((column) => `'${memberOf(column)}', ${column}`).join(', ')}))
  FROM (${countingSql(`(SELECT ${kept.join(', ')}) AS kept`, { least: 'min', greatest: 'max' })})
)
RETURNING state`

export const spendStatements = {
  spend,
  peek: `SELECT (SELECT state FROM petstore_quota WHERE subject = ?1) AS state, CAST(coalesce(?2, ${ENGINE_TIME}) AS INTEGER) AS now`,
  reset: 'DELETE FROM petstore_quota WHERE subject = ?1',
  // `prune` takes the time, or null for D1's time.
  prune: pruneStatement(`coalesce(?, ${ENGINE_TIME})`),
  // D1 bills each written row of a table or an index, so the index on `ends_at` is written only if
  // `ends_at` changes.
  moveEnd: `UPDATE petstore_quota SET ends_at = state ->> 'endsAt' WHERE subject = ?1 AND ends_at < state ->> 'endsAt'`,
  // Deletes nothing for a client that already has a counter, because it needs no room.
  makeRoom: makeRoomStatement(
    'iif(EXISTS (SELECT 1 FROM petstore_quota WHERE subject = ?1), NULL, ?2)',
    `ends_at DESC, (state ->> 'usedInDay') + (state ->> 'requests') DESC`,
  ),
} as const

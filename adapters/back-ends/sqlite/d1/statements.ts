import { countingSql } from '../../shared/counting-sql.ts'
import { COUNTS, ENGINE_TIME, makeRoomStatement, pruneStatement, REPLACE_COUNTS, STATE } from '../statements.ts'

/** SQL for a count so far, or 0 if the subject has no counter. */
const before = (column: string) => `coalesce(q.${column}, 0) AS ${column}`

/**
 * Counts one request, and returns the counter after it.
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
const spend = `INSERT INTO petstore_quota (subject, bucket, ${COUNTS})
WITH before AS (
  SELECT ?1 AS subject, CAST(coalesce(?6, ${ENGINE_TIME}) AS INTEGER) AS now, 1 AS requests,
    CAST(?2 AS INTEGER) AS per_minute, CAST(?3 AS INTEGER) AS per_day,
    CAST(?4 AS INTEGER) AS after_refusals, CAST(?5 AS INTEGER) AS ban_length,
    ${before('used_in_minute')}, ${before('minute_ends_at')}, ${before('used_in_day')}, ${before('day_ends_at')},
    ${before('refused_in_minute')}, ${before('banned_until')}
  FROM (SELECT 1) LEFT JOIN petstore_quota AS q ON q.subject = ?1
),
${countingSql({ least: 'min', greatest: 'max' })}
SELECT subject, ?7, used_in_minute, minute_ends_at, used_in_day, day_ends_at, refused_in_minute, banned_until,
  now, last_granted
FROM counted WHERE true
${REPLACE_COUNTS}
RETURNING ${STATE} AS state, counted_at AS countedAt, last_granted AS lastGranted`

export const quotaStatements = {
  spend,
  peek: `SELECT (SELECT ${STATE} FROM petstore_quota WHERE subject = ?1) AS state, CAST(coalesce(?2, ${ENGINE_TIME}) AS INTEGER) AS now`,
  reset: 'DELETE FROM petstore_quota WHERE subject = ?1',
  // Deletes nothing for a client that already has a counter, because it needs no room.
  makeRoom: makeRoomStatement('iif(EXISTS (SELECT 1 FROM petstore_quota WHERE subject = ?1), NULL, ?2)'),
  // `prune` takes the time, or null for D1's time.
  prune: pruneStatement(`coalesce(?1, ${ENGINE_TIME})`),
} as const

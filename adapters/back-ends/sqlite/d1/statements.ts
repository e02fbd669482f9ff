import { countingSql } from '../../shared/counting-sql.ts'
import { ENGINE_TIME, makeRoomStatement, pruneStatement } from '../statements.ts'

/** SQL for a count so far: a member of the stored state, or 0 if the subject has no counter. */
const kept = (member: string) => `coalesce(q.state ->> '${member}', 0)`

/**
 * Counts one request, and returns the counts after it.
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
WITH before AS (
  SELECT ?1 AS subject, CAST(coalesce(?6, ${ENGINE_TIME}) AS INTEGER) AS now, 1 AS requests,
    CAST(?2 AS INTEGER) AS per_minute, CAST(?3 AS INTEGER) AS per_day,
    CAST(?4 AS INTEGER) AS after_refusals, CAST(?5 AS INTEGER) AS ban_length,
    ${kept('usedInMinute')} AS used_in_minute, ${kept('minuteEndsAt')} AS minute_ends_at,
    ${kept('usedInDay')} AS used_in_day, ${kept('dayEndsAt')} AS day_ends_at,
    ${kept('refusedInMinute')} AS refused_in_minute, ${kept('bannedUntil')} AS banned_until
  FROM (SELECT 1) LEFT JOIN petstore_quota AS q ON q.subject = ?1
),
${countingSql({ least: 'min', greatest: 'max' })}
SELECT subject, json_object('usedInMinute', used_in_minute, 'minuteEndsAt', minute_ends_at, 'usedInDay', used_in_day,
  'dayEndsAt', day_ends_at, 'refusedInMinute', refused_in_minute, 'bannedUntil', banned_until, 'countedAt', now,
  'lastGranted', last_granted, 'lastRefusedBeforeBan', last_refused_before_ban, 'endsAt', ends_at), ends_at, ?7
FROM counted WHERE true
ON CONFLICT (subject) DO UPDATE SET state = excluded.state
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
    `ends_at DESC, state ->> 'usedInDay' DESC`,
  ),
} as const

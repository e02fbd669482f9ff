import { newQuotaState } from '../../../../src/back-end.ts'
import { ENGINE_TIME, makeRoomStatement, pruneStatement } from '../statements.ts'

const NAMES = Object.keys(newQuotaState())

/**
 * Counts or refuses one request by the same rules as `countRequest`, in SQL.
 *
 * Its parameters: the subject, the limits per minute and per day, the ban rule (refusals and milliseconds, or null for no bans),
 * the time (or null for D1's time), and the bucket of an anonymous client.
 *
 * D1 passes numbers as floating point, so they are cast before integer division. Without `MATERIALIZED`, SQLite would calculate
 * each part of the `WITH` again wherever a later part uses it. `RETURNING` can return only columns of the table, so the column
 * `state` also stores the time and whether the request is granted.
 */
const spend = `WITH
request AS MATERIALIZED (
  SELECT CAST(?2 AS INTEGER) AS perMinute, CAST(?3 AS INTEGER) AS perDay, CAST(?4 AS INTEGER) AS afterRefusals,
    CAST(?5 AS INTEGER) AS banLength, CAST(coalesce(?6, ${ENGINE_TIME}) AS INTEGER) AS now
),
kept AS MATERIALIZED (
  SELECT request.*,
    ${NAMES.map((name) => `coalesce(state ->> '${name}', 0) AS ${name}`).join(', ')}
  FROM request LEFT JOIN petstore_quota ON subject = ?1
),
rolled AS MATERIALIZED (
  SELECT perMinute, perDay, afterRefusals, banLength, now,
    iif(now >= minuteEndsAt, 0, usedInMinute) AS usedInMinute,
    iif(now >= minuteEndsAt, (now / 60000 + 1) * 60000, min(minuteEndsAt, now + 60000)) AS minuteEndsAt,
    iif(now >= dayEndsAt, 0, usedInDay) AS usedInDay,
    iif(now >= dayEndsAt, (now / 86400000 + 1) * 86400000, min(dayEndsAt, now + 86400000)) AS dayEndsAt,
    iif(now >= minuteEndsAt, 0, refusedInMinute) AS refusedInMinute,
    CASE WHEN afterRefusals IS NULL THEN bannedUntil
      WHEN now >= bannedUntil THEN 0
      ELSE min(bannedUntil, now + banLength) END AS bannedUntil
  FROM kept
),
decided AS MATERIALIZED (
  SELECT *, afterRefusals IS NOT NULL AND bannedUntil > 0 AS banned,
    usedInMinute < perMinute AND usedInDay < perDay AS hasRoom
  FROM rolled
),
counted AS MATERIALIZED (
  SELECT *, NOT banned AND hasRoom AS granted,
    NOT banned AND NOT hasRoom AND afterRefusals IS NOT NULL AS refused,
    NOT banned AND NOT hasRoom AND afterRefusals IS NOT NULL AND refusedInMinute + 1 >= afterRefusals AS startsBan
  FROM decided
)
INSERT INTO petstore_quota (subject, state, ends_at, bucket)
SELECT ?1, json_object(
    'usedInMinute', usedInMinute + granted, 'minuteEndsAt', minuteEndsAt,
    'usedInDay', usedInDay + granted, 'dayEndsAt', dayEndsAt,
    'refusedInMinute', iif(startsBan, 0, refusedInMinute + refused),
    'bannedUntil', iif(startsBan, now + banLength, bannedUntil),
    'now', now, 'granted', granted
  ), max(minuteEndsAt, dayEndsAt), ?7
FROM counted WHERE true
ON CONFLICT (subject) DO UPDATE SET state = excluded.state
RETURNING state`

const END = `max(state ->> 'minuteEndsAt', state ->> 'dayEndsAt', state ->> 'bannedUntil')`

export const spendStatements = {
  spend,
  // `prune` takes the time, or null for D1's time.
  prune: pruneStatement(`coalesce(?, ${ENGINE_TIME})`),
  // D1 bills each written row of a table or an index, so the index on `ends_at` is written only if `ends_at` changes.
  moveEnd: `UPDATE petstore_quota SET ends_at = ${END} WHERE subject = ?1 AND ends_at <> ${END}`,
  // Deletes nothing for a client that already has a counter, because it needs no room.
  makeRoom: makeRoomStatement('iif(EXISTS (SELECT 1 FROM petstore_quota WHERE subject = ?1), NULL, ?2)'),
} as const

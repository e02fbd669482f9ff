import { DAY, MINUTE } from '../../../src/support/time.ts'

/** The SQL functions of an engine that return the smallest and the greatest of several values. */
export interface SqlDialect {
  readonly least: string
  readonly greatest: string
}

/**
 * Returns SQL that counts equal requests of a subject as `countRequest` does: the parts of a `WITH`,
 * after a part `before`, and up to a part `counted`. Both have one row for each subject.
 *
 * - `before` has the counts so far, and what to count: `now` is the time, `requests` the number of
 *   requests, `per_minute` and `per_day` their limits, `after_refusals` and `ban_length` their ban
 *   rule (null for no bans).
 * - `counted` has the counts after these requests. `last_granted` says how many of them were
 *   granted: the first ones. `last_refused_before_ban` says how many were refused before the
 *   refusal that began a ban; 0 if none began one. `ends_at` is the end of the day in which a ban
 *   that begins now would end.
 *
 * All values are integers, and times are milliseconds.
 */
export function countingSql({ least, greatest }: SqlDialect): string {
  return `rolled AS (
  -- A window that has ended begins again at 0. If the clock was set back, a window ends at most one length after the new time.
  SELECT subject, now, requests, per_minute, per_day, after_refusals, ban_length,
    CASE WHEN now >= minute_ends_at THEN 0 ELSE used_in_minute END AS used_in_minute,
    CASE WHEN now >= minute_ends_at THEN 0 ELSE refused_in_minute END AS refused_in_minute,
    CASE WHEN now >= minute_ends_at THEN (now / ${MINUTE} + 1) * ${MINUTE} ELSE ${least}(minute_ends_at, now + ${MINUTE}) END AS minute_ends_at,
    CASE WHEN now >= day_ends_at THEN 0 ELSE used_in_day END AS used_in_day,
    CASE WHEN now >= day_ends_at THEN (now / ${DAY} + 1) * ${DAY} ELSE ${least}(day_ends_at, now + ${DAY}) END AS day_ends_at,
    CASE WHEN after_refusals IS NULL THEN banned_until WHEN now >= banned_until THEN 0
      ELSE ${least}(banned_until, now + ban_length) END AS banned_until
  FROM before
),
granted AS MATERIALIZED (
  -- MATERIALIZED: otherwise, PostgreSQL would copy each expression to all places that use its value.
  SELECT rolled.*,
    CASE WHEN after_refusals IS NOT NULL AND banned_until > 0 THEN 0
      ELSE ${greatest}(0, ${least}(requests, per_minute - used_in_minute, per_day - used_in_day)) END AS granted
  FROM rolled
),
refused AS (
  -- The refusals that count towards a ban: none during a ban, and none without a rule.
  SELECT granted.*,
    CASE WHEN after_refusals IS NULL OR banned_until > 0 THEN 0 ELSE requests - granted END AS refused
  FROM granted
),
decided AS (
  SELECT refused.*, refused > 0 AND refused_in_minute + refused >= after_refusals AS begins_ban
  FROM refused
),
counted AS (
  SELECT subject, now,
    used_in_minute + granted AS used_in_minute,
    minute_ends_at,
    used_in_day + granted AS used_in_day,
    day_ends_at,
    CASE WHEN begins_ban THEN 0 ELSE refused_in_minute + refused END AS refused_in_minute,
    CASE WHEN begins_ban THEN now + ban_length ELSE banned_until END AS banned_until,
    granted AS last_granted,
    CASE WHEN begins_ban THEN ${greatest}(0, after_refusals - refused_in_minute - 1) ELSE 0 END AS last_refused_before_ban,
    ((now + coalesce(ban_length, 0)) / ${DAY} + 1) * ${DAY} AS ends_at
  FROM decided
)`
}

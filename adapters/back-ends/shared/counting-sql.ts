import { DAY, MINUTE } from '../../../src/support/time.ts'

/** The SQL functions of an engine that return the smallest and the greatest of several values. */
export interface SqlDialect {
  readonly least: string
  readonly greatest: string
}

export const COUNT_COLUMNS = [
  'used_in_minute',
  'minute_ends_at',
  'used_in_day',
  'day_ends_at',
  'refused_in_minute',
  'banned_until',
] as const

/**
 * Returns SQL that counts requests as `countRequest` does. A row of `counters` has the columns of
 * `COUNT_COLUMNS`, and equal requests to count. `requests` is their number, and `counted_at` their
 * time. Their limits are `per_minute` and `per_day`, and their ban rule is `after_refusals` and
 * `ban_length` (null for no bans). All are integers, times in milliseconds. The result has the
 * columns of `COUNT_COLUMNS` after these requests.
 *
 * @param counters - SQL for a table
 */
export function countingSql(counters: string, { least, greatest }: SqlDialect): string {
  const rolled = `SELECT *,
      ${rolledWindow('minute', MINUTE, ['used_in_minute', 'refused_in_minute'])},
      ${rolledWindow('day', DAY, ['used_in_day'])},
      CASE WHEN after_refusals IS NULL THEN banned_until WHEN counted_at >= banned_until THEN 0
        ELSE ${least}(banned_until, counted_at + ban_length) END AS now_banned_until
    FROM ${counters}`
  const granted = `SELECT *, CASE WHEN after_refusals IS NOT NULL AND now_banned_until <> 0 THEN 0
      ELSE ${greatest}(0, ${least}(requests, per_minute - now_used_in_minute, per_day - now_used_in_day)) END AS granted
    FROM (${rolled}) AS rolled`
  // Requests that are not granted count towards a ban, unless one already runs. Those after the ban
  // begins do not.
  const refused = `SELECT *, CASE WHEN after_refusals IS NULL OR now_banned_until <> 0 THEN 0
      ELSE requests - granted END AS refused FROM (${granted}) AS granted`
  const startsBan = 'refused > 0 AND now_refused_in_minute + refused >= after_refusals'
  return `SELECT now_used_in_minute + granted AS used_in_minute, now_minute_ends_at AS minute_ends_at,
    now_used_in_day + granted AS used_in_day, now_day_ends_at AS day_ends_at,
    CASE WHEN ${startsBan} THEN 0 ELSE now_refused_in_minute + refused END AS refused_in_minute,
    CASE WHEN ${startsBan} THEN counted_at + ban_length ELSE now_banned_until END AS banned_until
  FROM (${refused}) AS refused`
}

/**
 * Begins a new window if the old one has ended. If the clock was set back, shortens a window that
 * would end too late.
 */
function rolledWindow(window: 'minute' | 'day', length: number, counts: readonly string[]): string {
  const end = `${window}_ends_at`
  const rolledCounts = counts.map((name) => `CASE WHEN counted_at >= ${end} THEN 0 ELSE ${name} END AS now_${name}`)
  return `${rolledCounts.join(', ')},
      CASE WHEN counted_at >= ${end} THEN (counted_at / ${length} + 1) * ${length}
        WHEN ${end} > counted_at + ${length} THEN counted_at + ${length} ELSE ${end} END AS now_${end}`
}

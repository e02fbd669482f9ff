import type { QuotaCount, QuotaRequest, QuotaStore } from '../../src/index.ts'
import { subjectName } from '../engine/subject.ts'
import type { PostgresValue, Query } from './client.ts'
import type { Names } from './names.ts'
import type { SqlTime } from './time.ts'

/** After so many requests of this process, counts that have ended are removed: more at a time than can have been added. */
const PRUNE_EVERY = 500
const PRUNED_AT_ONCE = 1_000
/** How long a count is kept past its end, in milliseconds: a clock that steps back must not free anybody. */
const KEPT = 172_800_000

interface CountRow {
  readonly granted: boolean
  readonly decided_at: number
  readonly used_in_minute: number
  readonly minute_ends_at: number
  readonly used_in_day: number
  readonly day_ends_at: number
  readonly banned_until: number
}

/** Counts in a table, one row a subject, one statement a request. */
export function postgresQuota(query: Query, { quota }: Names, time: SqlTime): QuotaStore {
  const spendOne = spendStatement(quota, time.at(6))
  const prune = pruneStatement(quota, time.at(1))
  let spent = 0

  return {
    async spend(request) {
      if (spent++ % PRUNE_EVERY === 0) query(prune, time.values()).catch(() => {})
      const [row] = await query<CountRow>(spendOne, [...(await valuesOf(request)), ...time.values()])
      return toCount(row as CountRow, request)
    },
  }
}

async function valuesOf({ subject, limits, ban }: QuotaRequest): Promise<PostgresValue[]> {
  const rule = ban === false ? [null, null] : [ban.afterRefusals, ban.seconds * 1000]
  return [await subjectName(subject), limits.perMinute, limits.perDay, ...rule]
}

/**
 * The law of `countRequest`, step by step, on the newest version of the row: whoever comes second waits for the first,
 * and reads the time only then.
 *
 * The values are: the subject, its limits for the minute and the day, the ban's rule (refusals, milliseconds) or nulls.
 */
function spendStatement(quota: string, now: string): string {
  return `INSERT INTO ${quota} AS q (subject, used_in_minute, minute_ends_at, used_in_day, day_ends_at,
  refused_in_minute, banned_until, granted, decided_at)
SELECT $1, 1, ${windowEnd('minute')}, 1, ${windowEnd('day')}, 0, 0, true, now FROM (SELECT ${now} AS now) AS time
ON CONFLICT (subject) DO UPDATE SET (used_in_minute, minute_ends_at, used_in_day, day_ends_at,
  refused_in_minute, banned_until, granted, decided_at) = (
  SELECT used_in_minute + CASE WHEN granted THEN 1 ELSE 0 END, minute_ends_at,
    used_in_day + CASE WHEN granted THEN 1 ELSE 0 END, day_ends_at,
    CASE WHEN starts_ban THEN 0 ELSE refused END,
    CASE WHEN starts_ban THEN now + $5::float8 ELSE banned_until END, granted, now
  FROM (SELECT ${now} AS now) AS time
  CROSS JOIN LATERAL (
    SELECT CASE WHEN now >= q.minute_ends_at THEN 0 ELSE q.used_in_minute END AS used_in_minute,
      CASE WHEN now >= q.minute_ends_at THEN 0 ELSE q.refused_in_minute END AS refused_in_minute,
      ${rolledEnd('minute')} AS minute_ends_at,
      CASE WHEN now >= q.day_ends_at THEN 0 ELSE q.used_in_day END AS used_in_day,
      ${rolledEnd('day')} AS day_ends_at,
      CASE WHEN $4::float8 IS NULL THEN q.banned_until WHEN now >= q.banned_until THEN 0
        ELSE least(q.banned_until, now + $5::float8) END AS banned_until
  ) AS rolled
  CROSS JOIN LATERAL (SELECT $4::float8 IS NOT NULL AND banned_until <> 0 AS banned) AS ban
  CROSS JOIN LATERAL (
    SELECT NOT banned AND used_in_minute < $2::float8 AND used_in_day < $3::float8 AS granted
  ) AS decision
  CROSS JOIN LATERAL (
    SELECT refused_in_minute + CASE WHEN granted OR banned OR $4::float8 IS NULL THEN 0 ELSE 1 END AS refused
  ) AS refusal
  CROSS JOIN LATERAL (
    SELECT NOT granted AND NOT banned AND $4::float8 IS NOT NULL AND refused >= $4::float8 AS starts_ban
  ) AS sentence
)
RETURNING granted, decided_at, used_in_minute, minute_ends_at, used_in_day, day_ends_at, banned_until`
}

const LENGTHS = { minute: '60000', day: '86400000' }

function windowEnd(window: 'minute' | 'day'): string {
  return `(floor(now / ${LENGTHS[window]}::float8) + 1) * ${LENGTHS[window]}`
}

function rolledEnd(window: 'minute' | 'day'): string {
  const end = `q.${window}_ends_at`
  return `CASE WHEN now >= ${end} THEN ${windowEnd(window)} ELSE least(${end}, now + ${LENGTHS[window]}) END`
}

/** Rows that another statement holds are passed over, so that this one never stands in the way. */
function pruneStatement(quota: string, now: string): string {
  return `DELETE FROM ${quota} WHERE subject IN (
  SELECT subject FROM ${quota} WHERE greatest(day_ends_at, banned_until) < (SELECT ${now} - ${KEPT})
  ORDER BY greatest(day_ends_at, banned_until) LIMIT ${PRUNED_AT_ONCE} FOR UPDATE SKIP LOCKED)`
}

function toCount(row: CountRow, { ban }: QuotaRequest): QuotaCount {
  return {
    granted: row.granted,
    now: Number(row.decided_at),
    usedInMinute: Number(row.used_in_minute),
    minuteEndsAt: Number(row.minute_ends_at),
    usedInDay: Number(row.used_in_day),
    dayEndsAt: Number(row.day_ends_at),
    bannedUntil: ban === false ? 0 : Number(row.banned_until),
  }
}

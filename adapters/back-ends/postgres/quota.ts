import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { subjectName } from '../shared/subject.ts'
import type { PostgresValue, Query } from './client.ts'
import type { Names } from './names.ts'
import { sqlTime } from './time.ts'

/** After so many requests of this process, counts that have ended are removed: more at a time than can have been added. */
const PRUNE_EVERY = 500
const PRUNED_AT_ONCE = 1_000
/** How long a count is kept past its end, in milliseconds: a clock that steps back must not free anybody. */
const KEPT = 172_800_000

interface CountRow {
  readonly granted: boolean
  readonly decided: number
  readonly minute: number
  readonly minuteends: number
  readonly day: number
  readonly dayends: number
  readonly banned: number
}

/** Counts in a table, one row a subject, one statement a request. */
export function postgresQuota(query: Query, { quota, spend }: Names, clock: Clock | undefined): QuotaStore {
  const time = sqlTime(clock)
  const prune = pruneStatement(quota, time.at(1))
  const spendOne = `SELECT s.granted, s.decided_at AS decided,
(s.state).used_in_minute AS minute, (s.state).minute_ends_at AS minuteends,
(s.state).used_in_day AS day, (s.state).day_ends_at AS dayends, (s.state).banned_until AS banned
FROM ${spend}($1, $2, $3, $4, $5, $6) AS s`
  let spent = 0

  return {
    async spend(request) {
      if (spent++ % PRUNE_EVERY === 0) query(prune, time.values()).catch(() => {})
      const [row] = await query<CountRow>(spendOne, await valuesOf(request, clock))
      return toCount(row as CountRow, request)
    },
  }
}

async function valuesOf({ subject, limits, ban }: QuotaRequest, clock: Clock | undefined): Promise<PostgresValue[]> {
  const rule = ban === false ? [null, null] : [ban.afterRefusals, ban.seconds * 1000]
  return [await subjectName(subject), limits.perMinute, limits.perDay, ...rule, clock?.now() ?? null]
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
    now: Number(row.decided),
    usedInMinute: Number(row.minute),
    minuteEndsAt: Number(row.minuteends),
    usedInDay: Number(row.day),
    dayEndsAt: Number(row.dayends),
    bannedUntil: ban === false ? 0 : Number(row.banned),
  }
}

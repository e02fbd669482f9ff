import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { bucketOf } from '../shared/anonymous-buckets.ts'
import { subjectName } from '../shared/subject.ts'
import type { Query } from './client.ts'
import type { Names } from './names.ts'
import { sqlTime } from './time.ts'

/** After so many requests of this process, ended counts are removed: more at a time than can have been added. */
const PRUNE_EVERY = 500
const PRUNED_AT_ONCE = 1_000
/** How long a count is kept after its end, in milliseconds, so that no limit is lifted early after the clock steps back. */
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

/** Counts in tables, one row per subject and one statement per request. */
export function postgresQuota(query: Query, names: Names, clock: Clock | undefined): QuotaStore {
  const { quota, anonymous, spend, spendAnonymous } = names
  const time = sqlTime(clock)
  const prune = pruneStatement(quota, time.at(1))
  const pruneAnonymous = `DELETE FROM ${anonymous} WHERE day_ends_at < (SELECT ${time.at(1)})`
  const columns = `s.granted, s.decided_at AS decided,
(s.state).used_in_minute AS minute, (s.state).minute_ends_at AS minuteends,
(s.state).used_in_day AS day, (s.state).day_ends_at AS dayends, (s.state).banned_until AS banned`
  const spendOne = `SELECT ${columns} FROM ${spend}($1, $2, $3, $4, $5, $6) AS s`
  const spendOneAnonymous = `SELECT ${columns} FROM ${spendAnonymous}($7, $1, $2, $3, $4, $5, $6) AS s`
  let spent = 0

  return {
    async spend(request) {
      if (spent++ % PRUNE_EVERY === 0)
        for (const statement of [prune, pruneAnonymous]) query(statement, time.values()).catch(() => {})
      const subject = await subjectName(request.subject)
      const { limits, ban } = request
      const now = clock?.now() ?? null
      const rule = ban === false ? [null, null] : [ban.afterRefusals, ban.seconds * 1000]
      const values = [subject, limits.perMinute, limits.perDay, ...rule, now]
      const [row] = request.anonymous
        ? await query<CountRow>(spendOneAnonymous, [...values, bucketOf(subject)])
        : await query<CountRow>(spendOne, values)
      return toCount(row as CountRow, request)
    },
  }
}

/** Rows that another statement has locked are skipped. */
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

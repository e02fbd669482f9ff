import { newQuotaState, peekCount, type QuotaState } from '../../../src/back-end.ts'
import type { QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { bucketOf, type CountedRequests, countsOf, rulesOf, subjectName } from '../shared/counters.ts'
import { inBatches } from './batches.ts'
import { inBackground, type PostgresContext } from './connection.ts'
import { quotaStatements } from './statements.ts'

const LARGEST_BATCH = 1_000

/** Requests of one subject with equal limits and ban rules. A statement gets them as one entry. */
interface Group {
  readonly request: QuotaRequest
  /** 1 for the first group of this subject in its batch, and so on. */
  readonly round: number
  /** The positions of the requests in their batch. */
  readonly positions: number[]
}

/**
 * Requests that arrive at the same time share a statement. Its commit does not wait for the disk.
 * So a slow disk delays no request, but a crash of PostgreSQL loses about a second of counts.
 * Anonymous clients have separate statements, so that a flood of them does not delay clients with a
 * key.
 */
export function postgresQuota({ query, schema, clock, lockTimeout, report }: PostgresContext): QuotaStore {
  const statements = quotaStatements(schema)
  const countCustomer = counter()
  const countAnonymous = counter()
  const pruneEnded = inBackground(() => query(statements.prune, [clock?.now() ?? null]), report)

  function counter() {
    return inBatches<QuotaRequest, QuotaCount>({
      lockTimeout,
      async send(requests) {
        const groups = groupsOf(requests)
        const rounds = Math.max(...groups.map(({ round }) => round))
        const values = [JSON.stringify(groups.map(entryOf)), rounds, clock?.now() ?? null, lockTimeout]
        const rows = await query<SpentRow>(statements.spend, values)
        const counters = new Map<string, CounterRow>()
        for (const { round, counter } of rows) {
          const row: CounterRow = JSON.parse(counter)
          counters.set(`${round} ${row.subject}`, row)
        }
        const counts: QuotaCount[] = []
        for (const { request, round, positions } of groups) {
          const row = counters.get(`${round} ${request.subject}`)
          if (!row) throw new Error('the table "quota" has not stored a counter: look for a trigger or a rule on it')
          for (const [i, count] of countsOf(countersOf(row), request, positions.length).entries())
            counts[positions[i] as number] = count
        }
        return counts
      },
      maxSize: LARGEST_BATCH,
      sizeOf: () => 1,
    })
  }

  return {
    async spend(request, context) {
      pruneEnded()
      const countOne = request.anonymous ? countAnonymous : countCustomer
      const name = subjectName(request.subject)
      const subject = typeof name === 'string' ? name : await name
      return countOne({ ...request, subject }, context)
    },
    async peek(request) {
      const subject = await subjectName(request.subject)
      const [row] = await query<{ readonly now: string; readonly counter: string | null }>(statements.peek, [
        subject,
        clock?.now() ?? null,
      ])
      const state = row?.counter == null ? newQuotaState() : stateOf(JSON.parse(row.counter))
      return peekCount(state, { ...request, now: Number(row?.now) })
    },
    async reset({ subject }) {
      await query(statements.reset, [await subjectName(subject)])
    },
  }
}

/** A row of what `spend` returns. `counter` is a row of the table `quota` as JSON. */
interface SpentRow {
  readonly round: number
  readonly counter: string
}

/** A row of the table `quota`. */
type CounterRow = { readonly subject: string } & Readonly<
  Record<
    | 'used_in_minute'
    | 'minute_ends_at'
    | 'used_in_day'
    | 'day_ends_at'
    | 'refused_in_minute'
    | 'banned_until'
    | 'counted_at'
    | 'last_granted'
    | 'last_refused_before_ban',
    number
  >
>

function stateOf(row: CounterRow): QuotaState {
  return {
    usedInMinute: row.used_in_minute,
    minuteEndsAt: row.minute_ends_at,
    usedInDay: row.used_in_day,
    dayEndsAt: row.day_ends_at,
    refusedInMinute: row.refused_in_minute,
    bannedUntil: row.banned_until,
  }
}

function countersOf(row: CounterRow): CountedRequests {
  return {
    ...stateOf(row),
    countedAt: row.counted_at,
    lastGranted: row.last_granted,
    lastRefusedBeforeBan: row.last_refused_before_ban,
  }
}

function groupsOf(requests: readonly QuotaRequest[]): Group[] {
  const groups: Group[] = []
  const lastOf = new Map<string, Group>()
  for (const [position, request] of requests.entries()) {
    const last = lastOf.get(request.subject)
    if (last && `${rulesOf(last.request)}` === `${rulesOf(request)}`) {
      last.positions.push(position)
      continue
    }
    const group = { request, round: (last?.round ?? 0) + 1, positions: [position] }
    groups.push(group)
    lastOf.set(request.subject, group)
  }
  return groups
}

/** The members are the columns of `entry` in the function `spend`. */
function entryOf({ request, round, positions }: Group) {
  const [perMinute, perDay, afterRefusals, banLength] = rulesOf(request)
  return {
    round,
    subject: request.subject,
    bucket: request.anonymous ? bucketOf(request.subject) : null,
    requests: positions.length,
    per_minute: perMinute,
    per_day: perDay,
    after_refusals: afterRefusals,
    ban_length: banLength,
  }
}

import { peekCount } from '../../../src/back-end.ts'
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
        const rows = await query<CounterRow>(statements.spend, values)
        const rowOf = new Map(rows.map((row) => [`${row.round} ${row.subject}`, row]))
        const counts: QuotaCount[] = []
        for (const { request, round, positions } of groups) {
          const row = rowOf.get(`${round} ${request.subject}`)
          if (!row) throw new Error('the table "quota" has not stored a counter: look for a trigger or a rule on it')
          for (const [i, count] of countsOf(counterOf(row), request, positions.length).entries())
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
      const rows = await query<CounterRow>(statements.peek, [subject, clock?.now() ?? null])
      const [row] = rows as [CounterRow]
      return peekCount(counterOf(row), { ...request, now: Number(row.now) })
    },
    async reset({ subject }) {
      await query(statements.reset, [await subjectName(subject)])
    },
  }
}

/**
 * A counter, with the round from `spend` or the time from `peek`. Drivers return 64-bit integers as
 * texts. The counts are null if the subject has no counter.
 */
type CounterRow = Readonly<Record<'round' | 'subject' | 'now' | keyof CountedRequests, string | number | null>>

function counterOf(row: CounterRow): CountedRequests {
  return {
    usedInMinute: Number(row.usedInMinute),
    minuteEndsAt: Number(row.minuteEndsAt),
    usedInDay: Number(row.usedInDay),
    dayEndsAt: Number(row.dayEndsAt),
    refusedInMinute: Number(row.refusedInMinute),
    bannedUntil: Number(row.bannedUntil),
    countedAt: Number(row.countedAt),
    lastGranted: Number(row.lastGranted),
    lastRefusedBeforeBan: Number(row.lastRefusedBeforeBan),
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

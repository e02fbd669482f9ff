import { countRequest, newQuotaState, peekCount, type QuotaState } from '../../../src/back-end.ts'
import type { QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { bucketOf, countLast, rulesOf, subjectName } from '../shared/counters.ts'
import { inBatches, statementRules } from './batches.ts'
import { inBackground, type PostgresContext } from './connection.ts'
import { countStatements } from './statements.ts'

const LARGEST_BATCH = 1_000

/**
 * The time of a group, and the state of its subject before its first request. Drivers return 64-bit
 * integers as texts.
 */
type GroupRow = Readonly<Record<'round' | 'who' | 'countedat' | Lowercase<keyof QuotaState>, string | number>>

/**
 * Requests of one subject with equal limits and ban rules. The statement gets them as one entry.
 */
interface Group {
  readonly request: QuotaRequest
  /**
   * 1 for the first group of a subject. A statement counts the groups of a subject one round after
   * another.
   */
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
  const statements = countStatements(schema)
  const countCustomer = counter(statements.countCustomers)
  const countAnonymous = counter(statements.countAnonymous)
  const pruneEnded = inBackground(() => query(statements.prune, [clock?.now() ?? null]), report)

  function counter(text: string) {
    return inBatches<QuotaRequest, QuotaCount>({
      ...statementRules(lockTimeout),
      async send(requests) {
        const groups = groupsOf(requests)
        const rounds = Math.max(...groups.map(({ round }) => round))
        const values = [JSON.stringify(groups.map(entryOf)), rounds, clock?.now() ?? null, lockTimeout]
        const rows = await query<GroupRow>(text, values)
        const rowOf = new Map(rows.map((row) => [`${row.round} ${row.who}`, row]))
        const counts: QuotaCount[] = []
        for (const group of groups)
          countGroup(group, rowOf.get(`${group.round} ${group.request.subject}`) as GroupRow, counts)
        return counts
      },
      maxSize: LARGEST_BATCH,
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
      const time = clock?.now() ?? null
      const [row] = request.anonymous
        ? await query<CounterRow>(statements.peekAnonymous, [subject, time, bucketOf(subject)])
        : await query<CounterRow>(statements.peekCustomer, [subject, time])
      return peekCount(stateIn(row), { ...request, now: Number(row?.now) })
    },
    async reset({ subject: given, anonymous }) {
      const subject = await subjectName(given)
      if (anonymous) await query(statements.resetAnonymous, [subject, bucketOf(subject)])
      else await query(statements.resetCustomer, [subject])
    },
  }
}

/**
 * A counter and the time. All other columns are null if the subject has no counter. Drivers return
 * 64-bit integers as texts.
 */
type CounterRow = Readonly<Record<string, string | number | null>>

/** Returns the counts of a row after its last requests. */
function stateIn(row: CounterRow | undefined): QuotaState {
  if (row?.requests == null) return newQuotaState()
  const numberOf = (column: string) => Number(row[column])
  const numberOrNull = (column: string) => (row[column] == null ? null : Number(row[column]))
  const state: QuotaState = {
    usedInMinute: numberOf('used_in_minute'),
    minuteEndsAt: numberOf('minute_ends_at'),
    usedInDay: numberOf('used_in_day'),
    dayEndsAt: numberOf('day_ends_at'),
    refusedInMinute: numberOf('refused_in_minute'),
    bannedUntil: numberOf('banned_until'),
  }
  countLast(state, {
    requests: numberOf('requests'),
    countedAt: numberOf('counted_at'),
    perMinute: numberOf('per_minute'),
    perDay: numberOf('per_day'),
    afterRefusals: numberOrNull('after_refusals'),
    banLength: numberOrNull('ban_length'),
  })
  return state
}

/**
 * Groups are sorted by subject, because statements that lock rows in the same order cannot
 * deadlock.
 */
function groupsOf(requests: readonly QuotaRequest[]): Group[] {
  const sorted = [...requests.entries()].sort(([, a], [, b]) =>
    a.subject < b.subject ? -1 : Number(a.subject > b.subject),
  )
  const groups: Group[] = []
  for (const [position, request] of sorted) {
    const group = groups.at(-1)
    const isSameSubject = group?.request.subject === request.subject
    if (isSameSubject && `${rulesOf(group.request)}` === `${rulesOf(request)}`) group.positions.push(position)
    else groups.push({ request, round: isSameSubject ? group.round + 1 : 1, positions: [position] })
  }
  return groups
}

/** The members are the columns of `entry` in the function `spend`. */
function entryOf({ request, round, positions }: Group) {
  const [perMinute, perDay, afterRefusals, banLength] = rulesOf(request)
  return {
    round,
    subject: request.subject,
    bucket: bucketOf(request.subject),
    per_minute: perMinute,
    per_day: perDay,
    after_refusals: afterRefusals,
    ban_length: banLength,
    requests: positions.length,
  }
}

/**
 * Adds the count of each request of a group to `counts`. PostgreSQL returns only the state before
 * the group.
 */
function countGroup({ request, positions }: Group, row: GroupRow, counts: QuotaCount[]): void {
  const state: QuotaState = {
    usedInMinute: Number(row.usedinminute),
    minuteEndsAt: Number(row.minuteendsat),
    usedInDay: Number(row.usedinday),
    dayEndsAt: Number(row.dayendsat),
    refusedInMinute: Number(row.refusedinminute),
    bannedUntil: Number(row.banneduntil),
  }
  for (const position of positions) counts[position] = countRequest(state, { ...request, now: Number(row.countedat) })
}

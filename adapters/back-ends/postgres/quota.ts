import { countRequest, type QuotaState } from '../../../src/back-end.ts'
import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { bucketOf, rulesOf, subjectName } from '../shared/counters.ts'
import { inBackground } from './background.ts'
import { inBatches, statementRules } from './batches.ts'
import type { Query } from './connection.ts'
import { countStatements } from './statements.ts'
import { sqlTime } from './time.ts'

const LARGEST_BATCH = 1_000
/** Every 500 requests, this process deletes old counters, for the first time at its first request. */
const PRUNE_EVERY = 500

/** The time at which the requests of a group are counted, and the state of their subject before the first of them. */
type GroupRow = Readonly<Record<'decided' | Lowercase<keyof QuotaState>, number>>

/** Requests of one subject with equal limits and ban rules. */
interface Group {
  readonly request: QuotaRequest
  /** The positions of the requests in their batch. */
  readonly places: number[]
}

/**
 * Requests that arrive at the same time share a statement. Its commit does not wait for the disk, so a slow disk delays no request,
 * but a crash of PostgreSQL loses about a second of counts. Anonymous clients have separate statements, so that a flood of them
 * does not delay clients with a key.
 */
export function postgresQuota(
  query: Query,
  schema: string,
  clock: Clock | undefined,
  lockTimeout: number,
  onError: (error: unknown) => void,
): QuotaStore {
  const time = sqlTime(clock)
  const statements = countStatements(schema, time)
  const countCustomer = counter(statements.countCustomers)
  const countAnonymous = counter(statements.countAnonymous)
  const pruneEnded = inBackground(async () => {
    for (const statement of statements.prune) await query(statement, time.values())
  }, onError)
  let spent = 0

  function counter(text: string) {
    return inBatches<QuotaRequest, QuotaCount>({
      ...statementRules(lockTimeout),
      async send(requests) {
        const groups = groupsOf(requests)
        const values = [JSON.stringify(groups.map(toEntry)), clock?.now() ?? null, lockTimeout]
        const rows = await query<GroupRow>(text, values)
        const counts: QuotaCount[] = []
        for (const [index, group] of groups.entries()) countGroup(group, rows[index] as GroupRow, counts)
        return counts
      },
      maxSize: LARGEST_BATCH,
      sizeOf: () => 1,
    })
  }

  return {
    async spend(request, context) {
      if (spent++ % PRUNE_EVERY === 0) pruneEnded()
      const countOne = request.anonymous ? countAnonymous : countCustomer
      const name = subjectName(request.subject)
      const subject = typeof name === 'string' ? name : await name
      return countOne({ ...request, subject }, context)
    },
  }
}

/** Groups are sorted by subject, because statements that lock rows in the same order cannot deadlock. */
function groupsOf(requests: readonly QuotaRequest[]): Group[] {
  const sorted = [...requests.entries()].sort(([, a], [, b]) =>
    a.subject < b.subject ? -1 : Number(a.subject > b.subject),
  )
  const groups: Group[] = []
  for (const [place, request] of sorted) {
    const group = groups.at(-1)
    if (group && isEqual(group.request, request)) group.places.push(place)
    else groups.push({ request, places: [place] })
  }
  return groups
}

function isEqual(a: QuotaRequest, b: QuotaRequest): boolean {
  return a.subject === b.subject && String(rulesOf(a)) === String(rulesOf(b))
}

function toEntry({ request, places }: Group) {
  return [request.subject, bucketOf(request.subject), ...rulesOf(request), places.length]
}

/** PostgreSQL returns only the state before the requests of a group, so this counts each request again, into `counts`. */
function countGroup({ request, places }: Group, row: GroupRow, counts: QuotaCount[]): void {
  const state: QuotaState = {
    usedInMinute: Number(row.usedinminute),
    minuteEndsAt: Number(row.minuteendsat),
    usedInDay: Number(row.usedinday),
    dayEndsAt: Number(row.dayendsat),
    refusedInMinute: Number(row.refusedinminute),
    bannedUntil: Number(row.banneduntil),
  }
  for (const place of places) counts[place] = countRequest(state, { ...request, now: Number(row.decided) })
}

import { countRequest, newQuotaState, type QuotaState } from '../../../src/back-end.ts'
import type { QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { bucketOf, rulesOf, subjectName } from '../shared/counters.ts'
import { inBackground } from './background.ts'
import { inBatches, statementRules } from './batches.ts'
import type { PostgresContext } from './connection.ts'
import { countStatements } from './statements.ts'

const LARGEST_BATCH = 1_000
/** Each process deletes old counters at its first request, and then every 500 requests. */
const PRUNE_EVERY = 500

/** The time at which a group is counted, and the state of its subject before its first request is counted. */
type GroupRow = Readonly<Record<'decided' | Lowercase<keyof QuotaState>, number>>

/** Requests of one subject with equal limits and ban rules. The statement gets them as one entry. */
interface Group {
  readonly request: QuotaRequest
  /** The positions of the requests in their batch. */
  readonly positions: number[]
}

/**
 * Requests that arrive at the same time share a statement. Its commit does not wait for the disk, so a slow disk delays no request,
 * but a crash of PostgreSQL loses about a second of counts. Anonymous clients have separate statements, so that a flood of them
 * does not delay clients with a key.
 */
export function postgresQuota({ query, schema, clock, lockTimeout, report }: PostgresContext): QuotaStore {
  const statements = countStatements(schema)
  const countCustomer = counter(statements.countCustomers)
  const countAnonymous = counter(statements.countAnonymous)
  const prune = async () => {
    for (const statement of statements.prune) await query(statement, [clock?.now() ?? null])
  }
  const pruneEnded = inBackground(PRUNE_EVERY, prune, report)

  function counter(text: string) {
    return inBatches<QuotaRequest, QuotaCount>({
      ...statementRules(lockTimeout),
      async send(requests) {
        const groups = groupsOf(requests)
        const entries = groups.map(({ request, positions }) => [
          request.subject,
          bucketOf(request.subject),
          ...rulesOf(request),
          positions.length,
        ])
        const rows = await query<GroupRow>(text, [JSON.stringify(entries), clock?.now() ?? null, lockTimeout])
        const counts: QuotaCount[] = []
        for (const [index, group] of groups.entries()) countGroup(group, rows[index] as GroupRow, counts)
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
  }
}

/** Groups are sorted by subject, because statements that lock rows in the same order cannot deadlock. */
function groupsOf(requests: readonly QuotaRequest[]): Group[] {
  const sorted = [...requests.entries()].sort(([, a], [, b]) =>
    a.subject < b.subject ? -1 : Number(a.subject > b.subject),
  )
  const groups: Group[] = []
  for (const [position, request] of sorted) {
    const group = groups.at(-1)
    const isSame = group?.request.subject === request.subject && `${rulesOf(group.request)}` === `${rulesOf(request)}`
    if (isSame) group.positions.push(position)
    else groups.push({ request, positions: [position] })
  }
  return groups
}

/** The name of each member of a `QuotaState`, and of its column. */
const COLUMNS = Object.keys(newQuotaState()).map(
  (name) => [name, name.toLowerCase()] as [keyof QuotaState, keyof GroupRow],
)

/** Adds the count of each request of a group to `counts`. PostgreSQL returns only the state before the group. */
function countGroup({ request, positions }: Group, row: GroupRow, counts: QuotaCount[]): void {
  const state = newQuotaState()
  for (const [name, column] of COLUMNS) state[name] = Number(row[column])
  for (const position of positions) counts[position] = countRequest(state, { ...request, now: Number(row.decided) })
}

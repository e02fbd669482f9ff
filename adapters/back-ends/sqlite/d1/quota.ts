import { newQuotaState, peekCount } from '../../../../src/back-end.ts'
import type { Clock, QuotaCount, QuotaStore } from '../../../../src/index.ts'
import { bucketOf, type CountedRequests, countsOf, rulesOf, subjectName } from '../../shared/counters.ts'
import { pruneSchedule } from '../../shared/prune.ts'
import type { Command, Engine } from './connection.ts'
import { quotaStatements } from './statements.ts'

/** The result of the statement `spend`. */
interface CountedRow {
  readonly state: string
  readonly countedAt: number
  readonly lastGranted: number
}

export function d1Quota({ run, transact }: Engine, clock: Clock | undefined): QuotaStore {
  const { spend, peek, reset, makeRoom, prune } = quotaStatements
  const isPruneDue = pruneSchedule()

  return {
    async spend(request) {
      const subject = await subjectName(request.subject)
      const bucket = request.anonymous ? bucketOf(subject) : null
      const time = clock?.now() ?? null
      const commands: Command[] = [[spend, subject, ...rulesOf(request), time, bucket]]
      if (bucket !== null) commands.unshift([makeRoom, subject, bucket])
      if (isPruneDue()) commands.push([prune, time])
      // Only the statement `spend` returns a row.
      const [{ state, ...last }] = (await transact(commands)).flat() as [CountedRow]
      const after: CountedRequests = { ...JSON.parse(state), ...last, lastRefusedBeforeBan: 0 }
      return countsOf(after, request, 1)[0] as QuotaCount
    },
    async peek(request) {
      const subject = await subjectName(request.subject)
      const [{ state, now }] = (await run(peek, subject, clock?.now() ?? null)) as [
        { readonly state: string | null; readonly now: number },
      ]
      return peekCount(state === null ? newQuotaState() : JSON.parse(state), { ...request, now })
    },
    async reset(counter) {
      await run(reset, await subjectName(counter.subject))
    },
  }
}

import { newQuotaState, peekCount } from '../../../../src/back-end.ts'
import type { Clock, QuotaCount, QuotaStore } from '../../../../src/index.ts'
import { bucketOf, type CountedRequests, countsOf, rulesOf, subjectName } from '../../shared/counters.ts'
import { pruneSchedule } from '../../shared/prune.ts'
import type { Command, Engine } from './connection.ts'
import { spendStatements } from './statements.ts'

export function d1Quota({ run, transact }: Engine, clock: Clock | undefined): QuotaStore {
  const { spend, peek, reset, moveEnd, makeRoom, prune } = spendStatements
  const isPruneDue = pruneSchedule()

  return {
    async spend(request) {
      const subject = await subjectName(request.subject)
      const bucket = request.anonymous ? bucketOf(subject) : null
      const time = clock?.now() ?? null
      const commands: Command[] = [
        [spend, subject, ...rulesOf(request), time, bucket],
        [moveEnd, subject],
      ]
      if (bucket !== null) commands.unshift([makeRoom, subject, bucket])
      if (isPruneDue()) commands.push([prune, time])
      // Only the statement `spend` returns a row.
      const [{ state }] = (await transact(commands)).flat() as [{ readonly state: string }]
      const after: CountedRequests = JSON.parse(state)
      return countsOf(after, request, 1)[0] as QuotaCount
    },
    async peek(request) {
      const subject = await subjectName(request.subject)
      const [row] = (await run(peek, subject, clock?.now() ?? null)) as [
        { readonly state: string | null; readonly now: number },
      ]
      const state = row.state === null ? newQuotaState() : JSON.parse(row.state)
      return peekCount(state, { ...request, now: row.now })
    },
    async reset(counter) {
      await run(reset, await subjectName(counter.subject))
    },
  }
}

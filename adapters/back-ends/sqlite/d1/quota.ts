import { countRequest, newQuotaState, peekCount, type QuotaState } from '../../../../src/back-end.ts'
import type { Clock, QuotaStore } from '../../../../src/index.ts'
import { bucketOf, countLast, type LastRequests, rulesOf, subjectName } from '../../shared/counters.ts'
import { pruneSchedule } from '../../shared/prune.ts'
import type { Command, Engine } from './connection.ts'
import { spendStatements } from './statements.ts'

/** The counts before the last request, and that request. */
type Stored = QuotaState & LastRequests

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
      const stored: Stored = JSON.parse(state)
      return countRequest(stored, { ...request, now: stored.countedAt })
    },
    async peek(request) {
      const subject = await subjectName(request.subject)
      const [row] = (await run(peek, subject, clock?.now() ?? null)) as [
        { readonly state: string | null; readonly now: number },
      ]
      if (row.state === null) return peekCount(newQuotaState(), { ...request, now: row.now })
      const stored: Stored = JSON.parse(row.state)
      countLast(stored, stored)
      return peekCount(stored, { ...request, now: row.now })
    },
    async reset(counter) {
      await run(reset, await subjectName(counter.subject))
    },
  }
}

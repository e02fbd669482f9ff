import { countRequest, type QuotaState } from '../../../../src/back-end.ts'
import type { Clock, QuotaStore } from '../../../../src/index.ts'
import { bucketOf, rulesOf, subjectName } from '../../shared/counters.ts'
import { PRUNE_EVERY } from '../statements.ts'
import type { Command, Engine } from './connection.ts'
import { spendStatements } from './statements.ts'

/** The state before a request, and the time of this request. */
type Stored = QuotaState & { readonly countedAt: number }

export function d1Quota({ transact }: Engine, clock: Clock | undefined): QuotaStore {
  const { spend, moveEnd, makeRoom, prune } = spendStatements
  let requests = 0

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
      if (requests % PRUNE_EVERY === 0) commands.push([prune, time])
      requests += 1
      // Only the statement `spend` returns a row.
      const [{ state }] = (await transact(commands)).flat() as [{ readonly state: string }]
      const stored: Stored = JSON.parse(state)
      return countRequest(stored, { ...request, now: stored.countedAt })
    },
  }
}

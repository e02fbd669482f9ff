import type { QuotaState } from '../../../../src/back-end.ts'
import type { Clock, QuotaStore } from '../../../../src/index.ts'
import { bucketOf, rulesOf, subjectName } from '../../shared/counters.ts'
import { PRUNE_EVERY } from '../statements.ts'
import type { Command, Engine } from './connection.ts'
import { spendStatements } from './statements.ts'

/** `granted` is 0 or 1. */
type Counted = QuotaState & { readonly now: number; readonly granted: number }

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
      if (requests++ % PRUNE_EVERY === 0) commands.push([prune, time])
      // Only the statement `spend` returns a row.
      const [{ state }] = (await transact(commands)).flat() as [{ readonly state: string }]
      const { refusedInMinute, ...counted }: Counted = JSON.parse(state)
      const bannedUntil = request.ban === false ? 0 : counted.bannedUntil
      return { ...counted, granted: counted.granted === 1, bannedUntil }
    },
  }
}

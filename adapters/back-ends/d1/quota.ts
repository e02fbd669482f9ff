import type { QuotaState } from '../../../src/back-end.ts'
import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { bucketOf } from '../shared/counters.ts'
import { subjectName } from '../shared/subject.ts'
import { PRUNE_EVERY } from '../sqlite-dialect/statements.ts'
import type { Command, Engine } from './connection.ts'
import { spendStatements } from './statements.ts'

/** The state of a subject after a request, the time, and the decision: `granted` is 0 or 1. */
type Counted = QuotaState & { readonly now: number; readonly granted: number }

/** Creates a quota store in D1. It counts each request in one transaction, by D1's time. */
export function d1Quota({ transact }: Engine, clock: Clock | undefined): QuotaStore {
  let requests = 0

  function commandsFor({ anonymous, limits, ban }: QuotaRequest, subject: string): Command[] {
    const bucket = anonymous ? bucketOf(subject) : null
    const rule = ban === false ? [null, null] : [ban.afterRefusals, ban.seconds * 1000]
    const time = clock?.now() ?? null
    const commands: Command[] = [
      [spendStatements.spend, subject, limits.perMinute, limits.perDay, ...rule, time, bucket],
      [spendStatements.moveEnd, subject],
    ]
    if (bucket !== null) commands.unshift([spendStatements.makeRoom, subject, bucket])
    if (requests++ % PRUNE_EVERY === 0) commands.push([spendStatements.prune, time])
    return commands
  }

  return {
    async spend(request) {
      const results = await transact(commandsFor(request, await subjectName(request.subject)))
      // Only the statement `spend` returns a row.
      const [{ state }] = results.flat() as [{ readonly state: string }]
      return toCount(JSON.parse(state) as Counted, request.ban !== false)
    },
  }
}

function toCount({ refusedInMinute, ...counted }: Counted, mayBan: boolean): QuotaCount {
  return { ...counted, granted: counted.granted === 1, bannedUntil: mayBan ? counted.bannedUntil : 0 }
}

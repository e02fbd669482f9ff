import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { andThen } from '../../../src/support/maybe-promise.ts'
import { bucketOf } from '../shared/counters.ts'
import { subjectName } from '../shared/subject.ts'
import type { RunScript } from './connection.ts'

/** Creates a quota store in Redis. The names of all Redis keys begin with the prefix. */
export function redisQuota(run: RunScript, prefix: string, clock: Clock | undefined): QuotaStore {
  async function spend(request: QuotaRequest, subject: string): Promise<QuotaCount> {
    const key = request.anonymous ? `${prefix}anonymous:${bucketOf(subject)}` : `${prefix}quota:${subject}`
    const args = [...argumentsOf(request, clock), request.anonymous ? subject : '']
    return toCount(await run(key, args), request)
  }
  return { spend: (request) => andThen(subjectName(request.subject), (subject) => spend(request, subject)) }
}

function argumentsOf({ limits, ban }: QuotaRequest, clock: Clock | undefined): string[] {
  const rule = ban === false ? ['', ''] : [String(ban.afterRefusals), String(ban.seconds * 1000)]
  return [String(limits.perMinute), String(limits.perDay), ...rule, clock === undefined ? '' : String(clock.now())]
}

/** Converts the reply: whether the request is granted, the time, and the six numbers of the state. */
function toCount(reply: unknown, { ban }: QuotaRequest): QuotaCount {
  const [granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, , banEndsAt] = String(reply)
    .split(' ')
    .map(Number) as [number, number, number, number, number, number, number, number]
  const bannedUntil = ban === false ? 0 : banEndsAt
  return { granted: granted === 1, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil }
}

import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { andThen } from '../../../src/support/maybe-promise.ts'
import { bucketOf, rulesOf, subjectName } from '../shared/counters.ts'
import type { RunScript } from './connection.ts'

export function redisQuota(run: RunScript, prefix: string, clock: Clock | undefined): QuotaStore {
  async function spend(request: QuotaRequest, subject: string): Promise<QuotaCount> {
    const { anonymous } = request
    const key = anonymous ? `${prefix}anonymous:${bucketOf(subject)}` : `${prefix}quota:${subject}`
    const values = [...rulesOf(request), clock?.now(), anonymous ? subject : '']
    const reply = await run(
      key,
      values.map((value) => String(value ?? '')),
    )
    return toCount(reply, request)
  }
  return { spend: (request) => andThen(subjectName(request.subject), (subject) => spend(request, subject)) }
}

/** The reply contains whether the request is granted, the time, and the six numbers of the state. */
function toCount(reply: unknown, { ban }: QuotaRequest): QuotaCount {
  const [granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, , banEndsAt] = String(reply)
    .split(' ')
    .map(Number) as [number, number, number, number, number, number, number, number]
  const bannedUntil = ban === false ? 0 : banEndsAt
  return { granted: granted === 1, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil }
}

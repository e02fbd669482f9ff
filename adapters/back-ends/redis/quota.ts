import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { bucketOf, rulesOf, subjectName } from '../shared/counters.ts'
import type { RunScript } from './connection.ts'

const NO_LIMITS = { limits: { perMinute: 0, perDay: 0 }, ban: false, now: 0 } as const

export function redisQuota(run: RunScript, prefix: string, clock: Clock | undefined): QuotaStore {
  async function call(action: 'spend' | 'peek' | 'reset', request: QuotaRequest): Promise<unknown> {
    const subject = await subjectName(request.subject)
    const { anonymous } = request
    const key = anonymous ? `${prefix}anonymous:${bucketOf(subject)}` : `${prefix}quota:${subject}`
    const values = [...rulesOf(request), clock?.now(), anonymous ? subject : '', action]
    return run(
      key,
      values.map((value) => String(value ?? '')),
    )
  }

  return {
    spend: async (request) => toCount(await call('spend', request), request),
    peek: async (request) => toCount(await call('peek', request), request),
    async reset(counter) {
      await call('reset', { ...NO_LIMITS, ...counter })
    },
  }
}

/**
 * The reply contains whether the request is granted, the time, and the six numbers of the state.
 */
function toCount(reply: unknown, { ban }: QuotaRequest): QuotaCount {
  const [granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, , banEndsAt] = String(reply)
    .split(' ')
    .map(Number) as [number, number, number, number, number, number, number, number]
  const bannedUntil = ban === false ? 0 : banEndsAt
  return { granted: granted === 1, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil }
}

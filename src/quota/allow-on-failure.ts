import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../ports.ts'
import { untouchedCount } from './counting-rule.ts'

/** After a failure, the quota store gets no call for this many milliseconds. */
const PAUSE = 1_000

/**
 * Returns a `spend` that grants all requests, without counting them, while the quota store fails.
 * One second after each failure, a single request calls the quota store again. `onFailure` is
 * called with the error of each failed call.
 */
export function allowOnFailure(
  quota: QuotaStore,
  clock: Clock,
): (request: QuotaRequest, onFailure: (error: unknown) => void) => Promise<QuotaCount> {
  let failedAt: number | undefined

  return async (request, onFailure) => {
    if (failedAt !== undefined) {
      const now = clock.now()
      if (Math.abs(now - failedAt) < PAUSE) return untouchedCount(request.now)
      // This request calls the quota store. For the next second, other requests are granted without
      // a call.
      failedAt = now
    }
    try {
      const count = await quota.spend(request)
      failedAt = undefined
      return count
    } catch (error) {
      failedAt = clock.now()
      onFailure(error)
      return untouchedCount(request.now)
    }
  }
}

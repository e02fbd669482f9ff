import type { Clock, MaybePromise, QuotaCount, QuotaRequest, QuotaStore } from '../ports.ts'

/** After a failure, the quota store gets no call for this many milliseconds. */
const PAUSE = 1_000

/**
 * Asks the quota store about a request. Returns `undefined` if the request is granted without a
 * count. `onFailure` gets the error of a failed call that is not thrown.
 */
export type AskQuota = (
  request: QuotaRequest,
  onFailure: (error: unknown) => void,
) => MaybePromise<QuotaCount | undefined>

/**
 * Returns a function that wraps `spend` or `peek`: while the quota store fails, all requests are
 * granted without a count. One second after each failure, a single request calls the quota store
 * again.
 */
export function allowOnFailure(clock: Clock): (ask: QuotaStore['spend']) => AskQuota {
  let failedAt: number | undefined

  return (ask) => async (request, onFailure) => {
    if (failedAt !== undefined) {
      const now = clock.now()
      if (Math.abs(now - failedAt) < PAUSE) return undefined
      // This request calls the quota store. For the next second, other requests are granted without
      // a call.
      failedAt = now
    }
    try {
      const count = await ask(request)
      failedAt = undefined
      return count
    } catch (error) {
      failedAt = clock.now()
      onFailure(error)
      return undefined
    }
  }
}

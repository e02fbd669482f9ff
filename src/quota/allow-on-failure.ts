import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../ports.ts'
import { untouchedCount } from './fixed-windows.ts'

/** How long requests are served uncounted after a failure, in milliseconds, before the store is asked again. */
const PAUSE = 1_000

/**
 * Serves requests uncounted while a quota store fails. After a failure, the store is not asked for one second; then a single
 * request tries it again while the others pass.
 *
 * @param onFailure - called with the error of each failed attempt
 */
export function allowOnFailure(
  quota: QuotaStore,
  clock: Clock,
): (request: QuotaRequest, onFailure: (error: unknown) => void) => Promise<QuotaCount> {
  let failedAt: number | undefined
  let isTrying = false

  const isPaused = () => failedAt !== undefined && (isTrying || Math.abs(clock.now() - failedAt) < PAUSE)

  return async (request, onFailure) => {
    if (isPaused()) return untouchedCount(request.now)
    isTrying = failedAt !== undefined
    try {
      const count = await quota.spend(request)
      failedAt = undefined
      return count
    } catch (error) {
      failedAt = clock.now()
      onFailure(error)
      return untouchedCount(request.now)
    } finally {
      isTrying = false
    }
  }
}

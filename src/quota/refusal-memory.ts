import type { LRUCache } from 'lru-cache'
import type { QuotaCount, QuotaRequest, QuotaStore } from '../ports.ts'
import { boundedMap } from '../support/bounded-map.ts'
import { andThen } from '../support/maybe-promise.ts'
import { countRequest } from './counting-rule.ts'

const MAX_SUBJECTS = 10_000

interface RememberedRefusal {
  readonly count: QuotaCount
  /** How far the quota store's clock is ahead of the option `clock`, in milliseconds. */
  readonly clockOffset: number
}

/**
 * Returns a quota store that remembers refusals. More requests from a refused client then do not reach the database, and their 429
 * takes a seventh of the CPU time. {@link countRequest} decides when the window or ban of a client ends, which lifts the refusal.
 * Refusals that count towards a ban still reach the database.
 */
export function rememberRefusals(quota: QuotaStore): QuotaStore {
  const refusals: LRUCache<string, RememberedRefusal> = boundedMap(MAX_SUBJECTS)
  let latest = 0

  return {
    spend(request) {
      const { subject, now } = request
      // After the clock steps back, every `clockOffset` is wrong, and the quota store ends windows and bans earlier.
      if (now < latest) refusals.clear()
      latest = now
      const known = refusals.get(subject)
      if (known !== undefined) {
        // A copy, because the quota store does not count this request.
        const state = { ...known.count, refusedInMinute: 0 }
        const count = countRequest(state, { ...request, now: now + known.clockOffset })
        if (isFinal(request, count)) return count
      }
      return andThen(quota.spend(request), (count) => {
        if (isFinal(request, count)) refusals.set(subject, { count, clockOffset: count.now - now })
        else refusals.delete(subject)
        return count
      })
    },
  }
}

/** Returns whether a request is refused without counting towards a ban. */
function isFinal({ ban }: QuotaRequest, { granted, bannedUntil }: QuotaCount): boolean {
  return !granted && (ban === false || bannedUntil !== 0)
}

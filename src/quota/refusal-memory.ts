import type { LRUCache } from 'lru-cache'
import type { QuotaCount, QuotaRequest, QuotaStore } from '../ports.ts'
import { boundedMap } from '../support/bounded-map.ts'
import { andThen } from '../support/maybe-promise.ts'
import { countRequest } from './fixed-windows.ts'

const MAX_SUBJECTS = 10_000

/** A refusal of the quota store, and the quota store's time minus the time of the request, in milliseconds. */
interface Refusal {
  readonly count: QuotaCount
  readonly clockOffset: number
}

/**
 * Returns a quota store that remembers refusals, so that more requests from a refused client do not reach the database. A 429 then
 * takes a seventh of the CPU time.
 *
 * A subject stays refused until its window or its ban ends, because its counts only grow. {@link countRequest} decides when that
 * is. A refusal that counts towards a ban still reaches the quota store.
 */
export function rememberRefusals(quota: QuotaStore): QuotaStore {
  const refusals: LRUCache<string, Refusal> = boundedMap(MAX_SUBJECTS)
  let latest = 0

  return {
    spend(request) {
      const { subject, now } = request
      // After the clock steps back, the offsets are wrong, and the quota store shortens windows and bans.
      if (now < latest) refusals.clear()
      latest = now
      const known = refusals.get(subject)
      if (known !== undefined) {
        // Count on a copy: the quota store has not counted this request.
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

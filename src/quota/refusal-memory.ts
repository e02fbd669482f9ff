import type { QuotaCount, QuotaRequest, QuotaStore } from '../ports.ts'
import { andThen } from '../support/maybe-promise.ts'
import { countRequest, type QuotaState } from './fixed-windows.ts'

/** How many refused subjects one process remembers. */
const MAX_SUBJECTS = 10_000

/** A refused subject, as the quota store reported it. */
interface RefusedSubject {
  readonly state: QuotaState
  /** The time of the request, in milliseconds since the Unix epoch. */
  readonly reportedAt: number
  /** The quota store's time minus the time of the request, in milliseconds. */
  readonly clockOffset: number
}

/**
 * Returns a quota store that remembers refusals, so that more requests from a refused client do not reach the database.
 *
 * A subject stays refused until its window or its ban ends, because its counts only grow. {@link countRequest} decides when that
 * is. A refusal that counts towards a ban still reaches the quota store.
 */
export function rememberRefusals(quota: QuotaStore): QuotaStore {
  const refused = new Map<string, RefusedSubject>()

  function remember(request: QuotaRequest, count: QuotaCount): QuotaCount {
    const { subject, now } = request
    if (!isFinal(request, count)) refused.delete(subject)
    else {
      // To forget all is as fast as to find the oldest, and costs each refused client one call of the quota store.
      if (refused.size === MAX_SUBJECTS) refused.clear()
      refused.set(subject, { state: stateOf(count), reportedAt: now, clockOffset: count.now - now })
    }
    return count
  }

  return {
    spend(request) {
      const { now } = request
      const known = refused.get(request.subject)
      // After the clock steps back, call the quota store, which then shortens the window or the ban.
      if (known !== undefined && now >= known.reportedAt) {
        const count = countRequest(known.state, { ...request, now: now + known.clockOffset })
        if (isFinal(request, count)) return count
      }
      return andThen(quota.spend(request), (count) => remember(request, count))
    },
  }
}

/** Returns whether a request is refused without counting towards a ban. */
function isFinal({ ban }: QuotaRequest, { granted, bannedUntil }: QuotaCount): boolean {
  return !granted && (ban === false || bannedUntil !== 0)
}

function stateOf({ usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil }: QuotaCount): QuotaState {
  return { usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, refusedInMinute: 0, bannedUntil }
}

import type { PlanLimits } from '../model.ts'
import type { CallContext, QuotaCount, QuotaCounter, QuotaStore } from '../ports.ts'
import { boundedMap } from '../support/bounded-map.ts'

const MAX_SUBJECTS = 10_000
/** In milliseconds. Then the database is asked again: another process may have reset the counts. */
const LONGEST_MEMORY = 5_000

/** A refusal that changes nothing in the quota store, so a repeat of it needs no call. */
interface Refusal {
  readonly count: QuotaCount
  readonly limits: PlanLimits
  /** When the quota store refused the request, by the option `clock`. */
  readonly since: number
  /** For how many milliseconds each repeat is refused with the same count. */
  readonly duration: number
}

/**
 * Returns a quota store that remembers refusals: later requests of a refused client get 429 without
 * a call of the database. With Redis, such a request over HTTP takes a third less CPU time.
 * Refusals that count towards a ban are not remembered.
 */
export function rememberRefusals(quota: QuotaStore): QuotaStore {
  const refusals = boundedMap<Refusal>(MAX_SUBJECTS)
  let latest = 0

  return {
    async spend(request) {
      const { subject, limits, ban, now } = request
      // The clock has stepped back: `since` may be in the future.
      if (now < latest) refusals.clear()
      latest = now
      const refusal = refusals.get(subject)
      if (refusal && applies(refusal, limits, now)) {
        return { ...refusal.count, now: refusal.count.now + now - refusal.since }
      }
      const count = await quota.spend(request)
      const changesNothing = !count.granted && (ban === false || isBanned(count))
      if (changesNothing) refusals.set(subject, { count, limits, since: now, duration: durationOf(count) })
      else refusals.delete(subject)
      return count
    },
    get peek() {
      return quota.peek
    },
    get reset() {
      const { reset } = quota
      if (!reset) return undefined
      return async (counter: QuotaCounter, context?: CallContext) => {
        await reset(counter, context)
        refusals.delete(counter.subject)
      }
    },
  }
}

/** A ban is for all keys of an account. Without one, a key with other limits may be served. */
function applies(refusal: Refusal, limits: PlanLimits, now: number): boolean {
  const age = now - refusal.since
  const { perMinute, perDay } = refusal.limits
  const isForLimits = limits.perMinute === perMinute && limits.perDay === perDay
  return age >= 0 && age < refusal.duration && (isForLimits || isBanned(refusal.count))
}

/** A count changes as soon as one of its windows or the ban ends. */
function durationOf(count: QuotaCount): number {
  const { now, minuteEndsAt, dayEndsAt } = count
  const banEndsAt = isBanned(count) ? count.bannedUntil : Number.POSITIVE_INFINITY
  return Math.min(LONGEST_MEMORY, minuteEndsAt - now, dayEndsAt - now, banEndsAt - now)
}

function isBanned({ bannedUntil, now }: QuotaCount): boolean {
  return bannedUntil > now
}

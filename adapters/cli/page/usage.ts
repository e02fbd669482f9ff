import { createHash } from 'node:crypto'
import type { ApiKey, BackEnd, BanRule, Clock, QuotaCount, QuotaRequest } from '../../../src/index.ts'
import { untouchedCount } from '../../../src/quota/counting-rule.ts'
import { subjectOf } from '../../../src/quota/rate-limit.ts'
import { boundedMap } from '../../../src/support/bounded-map.ts'
import { andThen } from '../../../src/support/maybe-promise.ts'
import { wrapPort } from '../../../src/support/wrap-port.ts'

export interface UsageWindow {
  readonly limit: number
  readonly used: number
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly endsAt: number
}

/** The usage of both limits of a key after its last request to this process. */
export interface Usage {
  readonly plan: string
  /** The quota store's time, in milliseconds since the Unix epoch. The browser's time may differ. */
  readonly now: number
  readonly minute: UsageWindow
  readonly day: UsageWindow
  /** When the ban ends, in milliseconds since the Unix epoch; 0 for no ban. */
  readonly bannedUntil: number
  readonly ban: BanRule | false
}

export interface UsageReader {
  /** Returns the usage of a token's key, if the key is valid and a request with the token was served. */
  usageOf(token: string): Promise<Usage | undefined>
  /** Returns the key of a token, if the last request with the token was valid. */
  keyOf(token: string): ApiKey | undefined
}

const MAX_KEYS = 10_000

interface Counted {
  readonly request: QuotaRequest
  readonly count: QuotaCount
}

/**
 * Remembers the last count of each key, because response headers describe only one of the two limits.
 *
 * `usageOf` has no rate limit. It looks up only tokens that were valid before: guessed tokens would burden the key store.
 */
export function watchUsage(
  { keyStore, quota }: Pick<BackEnd, 'keyStore' | 'quota'>,
  clock: Clock,
): Pick<BackEnd, 'keyStore' | 'quota'> & UsageReader {
  const keys = boundedMap<ApiKey>(MAX_KEYS)
  const counts = boundedMap<Counted>(MAX_KEYS)
  return {
    keyStore: wrapPort(keyStore, {
      find: (call, token) =>
        andThen(call(), (key) => {
          if (key) keys.set(hashOf(token), key)
          else keys.delete(hashOf(token))
          return key
        }),
    }),
    quota: wrapPort(quota, {
      async spend(call, request) {
        const count = await call()
        if (!request.anonymous) counts.set(request.subject, { request, count })
        return count
      },
    }),
    keyOf: (token) => keys.get(hashOf(token)),
    async usageOf(token) {
      if (keys.get(hashOf(token)) === undefined) return undefined
      // The key may have been revoked or have expired since its last request.
      const key = await keyStore.find(token)
      if (!key) return undefined
      const counted = counts.get(subjectOf(key))
      return counted && usageAt(clock.now(), key, counted)
    },
  }
}

function usageAt(coreNow: number, { plan }: ApiKey, { request, count }: Counted): Usage {
  const now = coreNow + count.now - request.now
  const { limits, ban } = request
  const fresh = untouchedCount(now)
  const ofMinute = now < count.minuteEndsAt ? count : fresh
  const ofDay = now < count.dayEndsAt ? count : fresh
  return {
    plan,
    now,
    minute: { limit: limits.perMinute, used: ofMinute.usedInMinute, endsAt: ofMinute.minuteEndsAt },
    day: { limit: limits.perDay, used: ofDay.usedInDay, endsAt: ofDay.dayEndsAt },
    bannedUntil: now < count.bannedUntil ? count.bannedUntil : 0,
    ban,
  }
}

/** Tokens are secrets, so only their hashes stay in memory. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

import * as z from 'zod/mini'
import { PetStoreError } from '../errors.ts'
import type { ApiKey, PlanLimits } from '../model.ts'
import type { Clock, QuotaCount, QuotaStore } from '../ports.ts'
import { expecting } from '../schemas/expected.ts'
import { describeSecret } from '../schemas/options.ts'
import { parseOption } from '../schemas/parse-options.ts'
import { customerRequestOf, limitsOf, missingLimits, type QuotaRules, subjectOf } from './rate-limit.ts'

/** One of the two windows in which requests are counted. */
export interface UsageWindow {
  /** The largest number of requests in the window. */
  readonly limit: number
  /** The requests that were served in the window. */
  readonly used: number
  /** The requests that remain in the window. */
  readonly remaining: number
  /** When the window ends, in milliseconds since the Unix epoch. */
  readonly resetsAt: number
}

/** The used and the remaining requests of a key. Keys of one account share these counts. */
export interface Usage {
  /** The plan of the key. */
  readonly plan: string
  /** The current UTC minute. */
  readonly minute: UsageWindow
  /** The current UTC day. */
  readonly day: UsageWindow
  /**
   * When the ban ends, in milliseconds since the Unix epoch. `undefined` if the key is not banned.
   */
  readonly bannedUntil: number | undefined
  /**
   * The time of these counts, in milliseconds since the Unix epoch, by the clock of the quota
   * store.
   */
  readonly now: number
}

/** Reads and resets the counts of keys. */
export interface UsageFunctions {
  /**
   * Returns what a key has used, without counting a request.
   * @throws {PetStoreError} `usage_not_supported` if the quota store has no `peek`; `invalid_option`
   * if neither the key nor its plan has limits
   */
  usage(key: ApiKey): Promise<Usage>
  /**
   * Ends the ban of a key, and lets both of its counts begin at zero, in all processes within five
   * seconds. For keys of one account, it does so for all of them.
   * @throws {PetStoreError} `usage_not_supported` if the quota store has no `reset`
   */
  resetUsage(key: ApiKey): Promise<void>
}

const apiKey = z.custom<ApiKey>(
  (value) => typeof Object(value).plan === 'string',
  expecting('a key such as { id, plan }, not its token or its id', describeSecret),
)

export function usageFunctions(quota: QuotaStore, rules: QuotaRules, clock: Clock): UsageFunctions {
  return {
    async usage(given) {
      const key = parseOption('key', apiKey, given)
      const limits = limitsOf(key, rules)
      if (!limits) throw missingLimits(key)
      const count = await peekOf(quota)(customerRequestOf(key, limits, rules, clock.now()))
      return usageOf(key, count, limits)
    },
    async resetUsage(given) {
      const key = parseOption('key', apiKey, given)
      if (!quota.reset) throw notSupported('reset')
      await quota.reset({ subject: subjectOf(key), anonymous: false })
    },
  }
}

/** @throws {PetStoreError} `usage_not_supported` if the quota store has no `peek` */
export function peekOf({ peek }: QuotaStore): NonNullable<QuotaStore['peek']> {
  if (!peek) throw notSupported('peek')
  return peek
}

function usageOf({ plan }: ApiKey, count: QuotaCount, { perMinute, perDay }: PlanLimits): Usage {
  const { usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil, now } = count
  return {
    plan,
    minute: windowOf(perMinute, usedInMinute, minuteEndsAt),
    day: windowOf(perDay, usedInDay, dayEndsAt),
    bannedUntil: bannedUntil > now ? bannedUntil : undefined,
    now,
  }
}

/** After a change to a smaller plan, more requests may be used than the new limit permits. */
function windowOf(limit: number, used: number, resetsAt: number): UsageWindow {
  return { limit, used, remaining: Math.max(0, limit - used), resetsAt }
}

function notSupported(method: string): PetStoreError {
  const message = `option quota: expected a quota store with the method ${method}; add it to your quota store`
  return new PetStoreError('usage_not_supported', message)
}

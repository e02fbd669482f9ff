import * as z from 'zod/mini'
import { PetStoreError } from '../errors.ts'
import type { ApiKey, PlanLimits, UsageWindow } from '../model.ts'
import type { Clock, QuotaCount, QuotaStore } from '../ports.ts'
import { expecting } from '../schemas/expected.ts'
import { describeSecret } from '../schemas/options.ts'
import { customerRequestOf, limitsOf, missingLimits, type QuotaRules, subjectOf, windowsOf } from './rate-limit.ts'

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

/** A key, and not its token, which no error may show. */
export const apiKey = z.custom<ApiKey>(
  (value) => typeof Object(value).plan === 'string',
  expecting('the id of a key, or a key such as { id, plan }, not its token', describeSecret),
)

/** Returns functions that read and reset the counts of keys. */
export function usageFunctions(quota: QuotaStore, rules: QuotaRules, clock: Clock) {
  return {
    async usage(key: ApiKey): Promise<Usage> {
      const limits = limitsOf(key, rules)
      if (!limits) throw missingLimits(key)
      const count = await peekOf(quota)(customerRequestOf(key, limits, rules, clock.now()))
      return usageOf(key, count, limits)
    },
    async resetUsage(key: ApiKey): Promise<void> {
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

function usageOf({ plan }: ApiKey, count: QuotaCount, limits: PlanLimits): Usage {
  const { bannedUntil, now } = count
  return { plan, ...windowsOf(count, limits), bannedUntil: bannedUntil > now ? bannedUntil : undefined, now }
}

function notSupported(method: string): PetStoreError {
  const message = `option quota: expected a quota store with the method ${method}; add it to your quota store`
  return new PetStoreError('usage_not_supported', message)
}

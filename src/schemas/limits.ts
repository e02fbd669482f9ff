import * as z from 'zod/mini'
import type { PlanLimits } from '../model.ts'
import type { BanRule } from '../ports.ts'
import { expecting } from './expected.ts'
import { optionsOf, positiveInteger } from './options.ts'

export const LIMITS = '{ perMinute, perDay }, whole numbers of at least 1'

/** The limits of a plan, of a key or of clients without a key. */
export const limits = optionsOf<PlanLimits>(
  { perMinute: positiveInteger, perDay: positiveInteger },
  { expected: LIMITS },
)

/** Returns whether limits are valid, like {@link limits}, but without a copy: each request asks this. */
export function areValidLimits({ perMinute, perDay }: PlanLimits): boolean {
  return positiveInteger.safeParse(perMinute).success && positiveInteger.safeParse(perDay).success
}

/** Limits by the names of plans. */
export const plans = z.readonly(
  z.record(z.string(), limits, expecting('limits by plan, such as { gold: { perMinute: 60, perDay: 1000 } }')),
)

/** When to ban a key; `false` for no bans. */
export const ban = z.union(
  [
    z.literal(false),
    optionsOf<Partial<BanRule>>({
      afterRefusals: z.optional(positiveInteger),
      seconds: z.optional(positiveInteger),
    }),
  ],
  expecting('false or { afterRefusals, seconds }'),
)

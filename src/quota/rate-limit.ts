import { errorTable } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import type { ApiResponse } from '../http/response.ts'
import { errorReply } from '../http/response.ts'
import type { Caller } from '../keys/authenticate.ts'
import type { ApiKey, PlanLimits } from '../model.ts'
import type { QuotaCount, QuotaRequest } from '../ports.ts'
import { isFixed } from '../support/is-fixed.ts'
import { isCount } from '../support/predicates.ts'

/** The option `ban`. */
export interface BanOptions {
  /** Refusals within one minute that start a ban. @default the per-minute limit in force for the key */
  readonly afterRefusals?: number | undefined
  /** How long a ban lasts, in seconds. @default 300 */
  readonly seconds?: number | undefined
}

/** How quota is kept: what the options say, with nothing left open. */
interface QuotaRules {
  readonly plans: Readonly<Record<string, PlanLimits>>
  readonly anonymous: PlanLimits
  readonly ban: { readonly afterRefusals: number | undefined; readonly seconds: number } | false
  readonly subjectOf: (key: ApiKey) => string
}

/** Why a request is not served now, and after how many seconds it would be. */
export interface Refusal {
  readonly code: 'rate_limit_exceeded' | 'api_key_banned'
  readonly retryAfter: number
}

/** What the three headers state, and whether the request may go on. Times in milliseconds since the Unix epoch. */
export interface Allowance {
  readonly limit: number
  readonly remaining: number
  readonly resetsAt: number
  /** Set where the request is refused. */
  readonly refusal?: Refusal
}

/** The limits that hold for a caller. @throws {Error} where the plan of a key is not known and it has none of its own */
export function limitsOf({ key }: Caller, { plans, anonymous }: QuotaRules): PlanLimits {
  if (key === undefined) return anonymous
  const limits = key.limits ?? (Object.hasOwn(plans, key.plan) ? plans[key.plan] : undefined)
  if (!isCount(limits?.perMinute) || !isCount(limits.perDay))
    throw new Error(
      `key ${key.id}: neither it nor plan "${key.plan}" has limits { perMinute, perDay }, whole numbers of at least 1`,
    )
  return limits
}

/** What is known of a request that is to be counted. */
interface Counted {
  readonly request: ApiRequest
  /** `null` where it was not asked for yet. */
  readonly clientAddress: string | null | undefined
  readonly limits: PlanLimits
}

/** What is to be counted for a caller; `undefined` for a stranger whose address nobody knows. */
export function quotaRequest(
  caller: Caller,
  counted: Counted,
  rules: QuotaRules,
  now: number,
): QuotaRequest | undefined {
  const { key } = caller
  const { limits } = counted
  if (key === undefined) {
    const clientAddress = counted.clientAddress === null ? counted.request.clientAddress : counted.clientAddress
    return !clientAddress
      ? undefined
      : { subject: `address:${clientAddress}`, anonymous: true, limits, ban: false, now }
  }
  const { ban } = rules
  const rule = ban && { afterRefusals: ban.afterRefusals ?? limits.perMinute, seconds: ban.seconds }
  return { subject: rules.subjectOf(key), anonymous: false, limits, ban: rule, now }
}

/**
 * Makes the reader of what a key's requests are counted under. It remembers the text for a key that cannot
 * change: looking up a text that was just made takes longer than all else about a count in memory.
 */
export function subjectReader(): QuotaRules['subjectOf'] {
  const subjects = new WeakMap<ApiKey, string>()
  return (key) => {
    const known = subjects.get(key)
    if (known !== undefined) return known
    // Customers would share what is counted under a name that is none.
    if (!key.account && !key.id) throw new Error('key store: expected a key with an id, got one without')
    const subject = key.account ? `account:${key.account}` : `key:${key.id}`
    if (isFixed(key)) subjects.set(key, subject)
    return subject
  }
}

/** Reads a count as what a client is told: of the two windows, the one that binds first. */
export function allowanceOf(count: QuotaCount, limits: PlanLimits): Allowance {
  const inMinute = Math.max(0, limits.perMinute - count.usedInMinute)
  const inDay = Math.max(0, limits.perDay - count.usedInDay)
  const byDay = inDay < inMinute || (inDay === inMinute && count.dayEndsAt > count.minuteEndsAt)
  const limit = byDay ? limits.perDay : limits.perMinute
  if (!count.granted) return refusal(count, limit, inMinute, inDay)
  return { limit, remaining: byDay ? inDay : inMinute, resetsAt: byDay ? count.dayEndsAt : count.minuteEndsAt }
}

/** Covers every reason at once, so that a client that waits this long is served. */
function refusal(count: QuotaCount, limit: number, inMinute: number, inDay: number): Allowance {
  const windowsEnd = Math.max(inMinute === 0 ? count.minuteEndsAt : 0, inDay === 0 ? count.dayEndsAt : 0)
  const resetsAt = Math.max(windowsEnd, count.bannedUntil)
  const retryAfter = Math.max(1, Math.ceil((resetsAt - count.now) / 1000))
  const code = count.bannedUntil > count.now ? 'api_key_banned' : 'rate_limit_exceeded'
  return { limit, remaining: 0, resetsAt, refusal: { code, retryAfter } }
}

/** The three headers of the contract, part 8.2. Reset is in whole seconds since the Unix epoch. */
export function rateLimitHeaders({ limit, remaining, resetsAt }: Allowance): string[] {
  return [
    'X-RateLimit-Limit',
    String(limit),
    'X-RateLimit-Remaining',
    String(remaining),
    'X-RateLimit-Reset',
    String(Math.ceil(resetsAt / 1000)),
  ]
}

/** Answers a refused request: 429, with Retry-After in seconds (RFC 9110, section 10.2.3). */
export function tooManyRequests({ code, retryAfter }: Refusal): ApiResponse {
  const seconds = retryAfter === 1 ? '1 second' : `${retryAfter} seconds`
  return errorReply(code, ['Retry-After', String(retryAfter)], `${errorTable[code].message} Retry after ${seconds}.`)
}

import { errorTable, PetStoreError } from '../errors.ts'
import { errorResponse, type OwnResponse } from '../http/response.ts'
import type { ApiKey, PlanLimits, RateLimit, UsageWindow } from '../model.ts'
import type { QuotaCount, QuotaRequest } from '../ports.ts'
import { areValidLimits, LIMITS } from '../schemas/limits.ts'
import { addressGroup } from '../support/ip-address.ts'

export interface QuotaRules {
  readonly plans: Readonly<Record<string, PlanLimits>>
  readonly anonymous: PlanLimits
  readonly ipv6Prefix: number
  readonly ban: { readonly afterRefusals: number | undefined; readonly seconds: number } | false
}

interface Refusal {
  readonly code: 'rate_limit_exceeded' | 'api_key_banned'
  /** The value of `Retry-After`, in seconds. */
  readonly retryAfterSeconds: number
}

export interface Allowance extends RateLimit {
  readonly refusal?: Refusal
}

/**
 * Returns the limits of a key, or of anonymous clients; `undefined` if neither the key nor its plan
 * has valid limits.
 */
export function limitsOf(key: ApiKey | undefined, { plans, anonymous }: QuotaRules): PlanLimits | undefined {
  if (key === undefined) return anonymous
  if (key.limits != null) return areValidLimits(key.limits) ? key.limits : undefined
  return Object.hasOwn(plans, key.plan) ? plans[key.plan] : undefined
}

export function missingLimits(key: ApiKey): PetStoreError {
  return new PetStoreError(
    'invalid_option',
    `key ${key.id}: expected limits ${LIMITS}, on the key or on its plan "${key.plan}" in the option plans of createPetStore (--plan-limits of petstore serve)`,
  )
}

/** Returns the name under which the requests of a key are counted. */
export function subjectOf({ id, account }: ApiKey): string {
  if (account) return `account:${account}`
  // Without this check, all keys without an id would share one counter.
  if (!id) throw new PetStoreError('invalid_option', 'key store: expected a key with an id or an account, got neither')
  return `key:${id}`
}

/** Returns the request to count for a key. */
export function customerRequestOf(key: ApiKey, limits: PlanLimits, { ban }: QuotaRules, now: number): QuotaRequest {
  const rule = ban && { afterRefusals: ban.afterRefusals ?? limits.perMinute, seconds: ban.seconds }
  return { subject: subjectOf(key), anonymous: false, limits, ban: rule, now }
}

/**
 * Returns the request to count, or `undefined` for a client without a valid key and without a known
 * address.
 */
export function quotaRequestOf(
  key: ApiKey | undefined,
  clientAddress: string | undefined,
  limits: PlanLimits,
  rules: QuotaRules,
  now: number,
): QuotaRequest | undefined {
  if (key) return customerRequestOf(key, limits, rules, now)
  if (!clientAddress) return undefined
  return {
    subject: `address:${addressGroup(clientAddress, rules.ipv6Prefix)}`,
    anonymous: true,
    limits,
    ban: false,
    now,
  }
}

/** Returns both windows of a count. After a change to a smaller plan, more may be used than its limit. */
export function windowsOf(count: QuotaCount, { perMinute, perDay }: PlanLimits): Record<'minute' | 'day', UsageWindow> {
  const windowOf = (limit: number, used: number, resetsAt: number) => {
    return { limit, used, remaining: Math.max(0, limit - used), resetsAt }
  }
  return {
    minute: windowOf(perMinute, count.usedInMinute, count.minuteEndsAt),
    day: windowOf(perDay, count.usedInDay, count.dayEndsAt),
  }
}

/**
 * Returns the allowance in the window with fewer requests remaining. If both are equal, uses the
 * day, because it ends later.
 */
export function allowanceOf(count: QuotaCount, limits: PlanLimits): Allowance {
  const inMinute = Math.max(0, limits.perMinute - count.usedInMinute)
  const inDay = Math.max(0, limits.perDay - count.usedInDay)
  const byDay = inDay <= inMinute
  const limit = byDay ? limits.perDay : limits.perMinute
  if (!count.granted) return refusedAllowance(count, limit, inMinute, inDay)
  return { limit, remaining: byDay ? inDay : inMinute, resetsAt: byDay ? count.dayEndsAt : count.minuteEndsAt }
}

/**
 * Returns the allowance after a refusal. Its `resetsAt` is when the ban and every exhausted window
 * have ended.
 */
function refusedAllowance(count: QuotaCount, limit: number, inMinute: number, inDay: number): Allowance {
  const windowsEnd = Math.max(inMinute === 0 ? count.minuteEndsAt : 0, inDay === 0 ? count.dayEndsAt : 0)
  const resetsAt = Math.max(windowsEnd, count.bannedUntil)
  const retryAfterSeconds = Math.max(1, Math.ceil((resetsAt - count.now) / 1000))
  const code = count.bannedUntil > count.now ? 'api_key_banned' : 'rate_limit_exceeded'
  return { limit, remaining: 0, resetsAt, refusal: { code, retryAfterSeconds } }
}

/** Adds the headers of docs/interface.md, section 8.2. `X-RateLimit-Reset` is in Unix seconds. */
export function addRateLimitHeaders(headers: string[], { limit, remaining, resetsAt }: Allowance): void {
  headers.push('X-RateLimit-Limit', String(limit), 'X-RateLimit-Remaining', String(remaining))
  headers.push('X-RateLimit-Reset', String(Math.ceil(resetsAt / 1000)))
}

/** Returns a 429 response with `Retry-After` in seconds (RFC 9110, section 10.2.3). */
export function tooManyRequests({ code, retryAfterSeconds }: Refusal): OwnResponse {
  const seconds = retryAfterSeconds === 1 ? '1 second' : `${retryAfterSeconds} seconds`
  return errorResponse(
    code,
    ['Retry-After', String(retryAfterSeconds)],
    `${errorTable[code].message} Retry after ${seconds}.`,
  )
}

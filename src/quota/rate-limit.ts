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
  readonly count: QuotaCount
  readonly limits: PlanLimits
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
  if (!count.granted) return { count, limits, limit, ...refusalOf(count, inMinute, inDay) }
  const remaining = byDay ? inDay : inMinute
  // A spread would take as long as a third of a list in memory.
  return { count, limits, limit, remaining, resetsAt: byDay ? count.dayEndsAt : count.minuteEndsAt }
}

/**
 * Returns what is left after a refusal. Its `resetsAt` is when the ban and every exhausted window have
 * ended.
 */
function refusalOf(count: QuotaCount, inMinute: number, inDay: number) {
  const windowsEnd = Math.max(inMinute === 0 ? count.minuteEndsAt : 0, inDay === 0 ? count.dayEndsAt : 0)
  const resetsAt = Math.max(windowsEnd, count.bannedUntil)
  const retryAfterSeconds = secondsUntil(resetsAt, count.now)
  const code: Refusal['code'] = count.bannedUntil > count.now ? 'api_key_banned' : 'rate_limit_exceeded'
  return { remaining: 0, resetsAt, refusal: { code, retryAfterSeconds } }
}

function secondsUntil(time: number, now: number): number {
  return Math.max(1, Math.ceil((time - now) / 1000))
}

/** Adds the headers of docs/interface.md, section 8.2. `X-RateLimit-Reset` is in Unix seconds. */
export function addRateLimitHeaders(headers: string[], { limit, remaining, resetsAt }: Allowance): void {
  headers.push('X-RateLimit-Limit', String(limit), 'X-RateLimit-Remaining', String(remaining))
  headers.push('X-RateLimit-Reset', String(Math.ceil(resetsAt / 1000)))
}

/** The largest integer of a structured field (RFC 9651, section 3.3.1). */
const MAX_INTEGER = 999_999_999_999_999

/**
 * Adds the headers of draft-ietf-httpapi-ratelimit-headers-11, with a policy for each window. During a
 * ban, no request is left in either of them.
 */
export function addStandardRateLimitHeaders(headers: string[], { count, limits }: Allowance): void {
  const { minute, day } = windowsOf(count, limits)
  const integer = (value: number) => Math.min(value, MAX_INTEGER)
  const policies = [`"minute";q=${integer(minute.limit)};w=60`, `"day";q=${integer(day.limit)};w=86400`]
  const itemOf = (name: string, { remaining, resetsAt }: UsageWindow) => {
    const isBanned = count.bannedUntil > count.now
    const left = isBanned ? 0 : remaining
    const endsAt = isBanned ? Math.max(count.bannedUntil, remaining === 0 ? resetsAt : 0) : resetsAt
    return `"${name}";r=${integer(left)};t=${secondsUntil(endsAt, count.now)}`
  }
  headers.push('RateLimit-Policy', policies.join(', '))
  headers.push('RateLimit', [itemOf('minute', minute), itemOf('day', day)].join(', '))
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

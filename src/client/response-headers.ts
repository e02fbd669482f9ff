import { PetStoreError } from '../errors.ts'
import type { RateLimit } from '../model.ts'
import { parseHttpDate } from './retry-after.ts'

/**
 * In milliseconds. If a window ends later, it is a day, or the clocks differ: then the client waits
 * only after a 429.
 */
const MAX_RESET = 60_000

/**
 * The rate limit after a response without rate-limit headers. It belongs to no known window,
 * because `resetsAt` is NaN.
 */
export const UNKNOWN: RateLimit = { limit: 0, remaining: Number.POSITIVE_INFINITY, resetsAt: Number.NaN }

/**
 * Reads the rate-limit headers. Returns `undefined` if one is missing or not a number, as in the
 * response of a proxy.
 */
export function readRateLimit(headers: Pick<Headers, 'get'>): RateLimit | undefined {
  const values = ['Limit', 'Remaining', 'Reset'].map((name) => headers.get(`X-RateLimit-${name}`) ?? '')
  if (!values.every((value) => /^\d{1,15}$/.test(value))) return undefined
  const [limit = 0, remaining = 0, reset = 0] = values.map(Number)
  return { limit, remaining, resetsAt: reset * 1000 }
}

/**
 * Returns an error with the time until the window ends; `undefined` if requests remain, or if that
 * time is over or too long.
 */
export function usedUp({ limit, remaining, resetsAt }: RateLimit, serverTime: number): PetStoreError | undefined {
  const delay = resetsAt - serverTime
  if (remaining > 0 || delay <= 0 || delay > MAX_RESET) return undefined
  const retryAfter = Math.ceil(delay / 1000)
  const message = `All ${limit} requests of this window are used up, and it ends in ${retryAfter} seconds.`
  return new PetStoreError('rate_limit_exceeded', message, { retryAfter })
}

/** Returns the time in the header `Date`, or `now` without a valid one. */
export function serverTime(headers: Headers, now: number): number {
  return parseHttpDate(headers.get('Date') ?? '') || now
}

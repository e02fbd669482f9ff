import { PetStoreError } from '../errors.ts'
import type { RateLimit } from '../model.ts'

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

/**
 * The three forms of a date in HTTP (RFC 9110, section 5.6.7): `IMF-fixdate`, and two that are
 * obsolete.
 */
const HTTP_DATE =
  /\b[a-z]{3}, \d{1,2} [a-z]{3} \d{4} \d\d:\d\d:\d\d (?:GMT|UTC)|\b[a-z]{6,9}, \d\d-[a-z]{3}-\d\d \d\d:\d\d:\d\d GMT|\b[a-z]{3} [a-z]{3} [ \d]\d \d\d:\d\d:\d\d \d{4}/gi

/**
 * A number at the start of a list member, with a sign or a fraction that it should not have.
 * "2030-01-01" begins with no number.
 */
const SECONDS = /^[\s"+]*(\d+(?:\.\d*)?)(?![\d.:/-])/

/**
 * Returns the seconds that `Retry-After` asks to wait, as a whole number; `undefined` without a
 * time. The header contains seconds or a date (RFC 9110, section 10.2.3), but servers also send
 * fractions, and proxies join two headers to a list: the longest time counts.
 * @param serverTime - the time of the response, to which a date is compared, in milliseconds since
 * the Unix epoch
 */
export function readRetryAfter(value: string | null, serverTime: number): number | undefined {
  if (value === null) return undefined
  const dates = Array.from(value.matchAll(HTTP_DATE), ([date]) => (parseHttpDate(date) - serverTime) / 1000)
  const members = value.replaceAll(HTTP_DATE, '').split(',')
  const seconds = members.flatMap((member) => SECONDS.exec(member)?.[1] ?? []).map(Number)
  const longest = [...dates, ...seconds]
    .filter((time) => !Number.isNaN(time))
    .reduce((one, other) => Math.max(one, other), Number.NEGATIVE_INFINITY)
  return longest === Number.NEGATIVE_INFINITY ? undefined : Math.ceil(Math.max(0, longest))
}

/**
 * Returns the time of a date in HTTP; NaN for any other text. `Date.parse` alone would read "5" as
 * a day of 2001.
 */
export function parseHttpDate(text: string): number {
  const [date] = text.match(HTTP_DATE) ?? []
  if (date === undefined) return Number.NaN
  // The form of C's `asctime` has no zone, and `Date.parse` would use the local one.
  return Date.parse(/(?:GMT|UTC)$/i.test(date) ? date : `${date} GMT`)
}

/**
 * Matches one parameter of a link, such as `; rel=next` or `; title="x, y"`. No backtracking: each
 * text matches in one way.
 */
const PARAMETER = /\s*;\s*(?:([^\s=;,"<]+)\s*)?(?:=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;,"<]*)))?/y

/**
 * Returns the target of the link with a relation such as `next` (RFC 8288, section 3), in linear
 * time.
 */
export function linkTarget(link: string, relation: string): string | undefined {
  for (let position = 0; ; ) {
    const start = link.indexOf('<', position)
    const end = link.indexOf('>', start)
    if (start === -1 || end === -1) return undefined
    position = end + 1
    for (;;) {
      PARAMETER.lastIndex = position
      const [text = '', name = '', quoted, plain = ''] = PARAMETER.exec(link) ?? []
      if (text === '') break
      position += text.length
      const relations = (quoted ?? plain).toLowerCase().split(/\s+/)
      if (name.toLowerCase() === 'rel' && relations.includes(relation)) return link.slice(start + 1, end)
    }
  }
}

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

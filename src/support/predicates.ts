/** Returns whether a value is a whole number of at least 1. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1
}

/** The last millisecond of the year 9999, which is the last year with four digits. */
const LAST_TIME = Date.UTC(10_000, 0) - 1

/** Returns whether a value is a time from 1970 to 9999, in milliseconds since the Unix epoch. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_TIME
}

/** Returns whether a value is an http or https URL without credentials, query and fragment. */
export function isHttpUrl(value: unknown): value is string {
  return typeof value === 'string' && /^https?:\/\/[^?#@/\\]+(?:\/[^?#]*)?$/i.test(value) && URL.canParse(value)
}

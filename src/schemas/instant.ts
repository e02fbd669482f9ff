import { isTime } from '../support/time.ts'

/**
 * Returns whether a text is a time with a zone, such as `2030-12-05T00:00:00Z`, from 1970 to 9999.
 */
export function isInstant(text: string): boolean {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)T.*(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  // `Date.parse` reads 30 February as 1 or 2 March. The JSON of an invalid date is `null`.
  return isTime(Date.parse(text)) && new Date(day).toJSON()?.startsWith(day) === true
}

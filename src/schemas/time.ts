import * as z from 'zod/mini'
import { isInstant, looksLikeSeconds } from '../support/time.ts'
import { expecting } from './expected.ts'

/** The forms in which programs and the command write a time. */
export const TIME =
  'a time such as a Date, "2030-01-31" (the start of this UTC day), "2030-01-31T12:00Z", or milliseconds since the Unix epoch'

const isNotSeconds = z.refine<number>((value) => !looksLikeSeconds(value), expecting(`${TIME}, not seconds`))

/** The schema of a time of a key. The result is milliseconds since the Unix epoch. */
export const time = z.pipe(z.transform(toMilliseconds), z.int({ ...expecting(TIME), abort: true }).check(isNotSeconds))

/** Returns milliseconds for a date or its text, and any other value as it is. */
function toMilliseconds(value: unknown): unknown {
  if (value instanceof Date) return value.getTime()
  if (typeof value !== 'string') return value
  const instant = /^\d{4}-\d\d-\d\d$/.test(value) ? `${value}T00:00Z` : value
  return isInstant(instant) ? Date.parse(instant) : value
}

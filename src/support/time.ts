import type { Clock } from '../ports.ts'

/** The clock of the runtime. Reads the global `Date` at each call, because fake timers replace it. */
export const systemClock: Clock = { now: () => Date.now() }

/** The last millisecond of the year 9999, which is the last year with four digits. */
export const LAST_TIME = Date.UTC(10_000, 0) - 1

/** Returns whether a value is a time from 1970 to 9999, in milliseconds since the Unix epoch. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_TIME
}

/** Returns whether a time is probably in seconds: as seconds, it is from 2001 to 5138; as milliseconds, from 1970 to 1973. */
export function looksLikeSeconds(time: number): boolean {
  return time >= 1e9 && time < 1e11
}

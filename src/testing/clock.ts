import type { Clock } from '../ports.ts'

/** A clock that stands still until it is moved. */
export interface ManualClock extends Clock {
  /** Moves the time by so many milliseconds, back where they are negative. */
  advance(milliseconds: number): void
  /** Moves the time to an instant, in milliseconds since the Unix epoch. */
  set(time: number): void
}

/**
 * Makes a clock for tests.
 *
 * @param start - milliseconds since the Unix epoch, or a date. Defaults to the first instant of 2026 in UTC
 * @example
 * ```ts
 * import { manualClock } from 'petstore-kit/testing'
 *
 * const clock = manualClock()
 * clock.advance(60_000)
 * ```
 */
export function manualClock(start: number | Date = Date.UTC(2026, 0, 1)): ManualClock {
  let time = Number(start)
  return {
    now: () => time,
    advance(milliseconds) {
      time += milliseconds
    },
    set(instant) {
      time = instant
    },
  }
}

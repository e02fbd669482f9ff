import type { Clock } from '../ports.ts'
import { invalidOption } from '../support/option-rules.ts'

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
 * @throws {PetStoreError} `invalid_option` where it is, or is moved by or to, what is no time
 * @example
 * ```ts
 * import { manualClock } from 'petstore-kit/testing'
 *
 * const clock = manualClock()
 * clock.advance(60_000)
 * ```
 */
export function manualClock(start: number | Date = Date.UTC(2026, 0, 1)): ManualClock {
  let time = milliseconds('start', start instanceof Date ? start.getTime() : start)
  return {
    now: () => time,
    advance(length) {
      time += milliseconds('milliseconds', length)
    },
    set(instant) {
      time = milliseconds('time', instant)
    },
  }
}

/** A test that lost its number somewhere hears of it here, and not from a header that says NaN. */
function milliseconds(name: string, value: number): number {
  if (!Number.isFinite(value)) throw invalidOption(name, 'a number of milliseconds', value)
  return value
}

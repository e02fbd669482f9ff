import type { Clock } from '../ports.ts'
import { invalidOption } from '../support/option-rules.ts'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves the clock by a number of milliseconds; a negative number moves it back. */
  advance(milliseconds: number): void
  /** Sets the clock, in milliseconds since the Unix epoch. */
  set(time: number): void
}

/**
 * Creates a clock for tests.
 *
 * @param start - milliseconds since the Unix epoch, or a date. Default: 1 January 2026, 00:00 UTC
 * @throws {PetStoreError} `invalid_option` for anything but a finite number or a valid date
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

/** Throws unless a value is a finite number. Otherwise a header would contain `NaN` later. */
function milliseconds(name: string, value: number): number {
  if (!Number.isFinite(value)) throw invalidOption(name, 'a number of milliseconds', value)
  return value
}

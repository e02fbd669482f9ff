import type { Clock } from '../../ports.ts'
import { invalidOption } from '../../schemas/options.ts'
import { isTime } from '../../support/time.ts'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves the clock by a number of milliseconds; a negative number moves it back. */
  advance(milliseconds: number): void
  /** Sets the clock, in milliseconds since the Unix epoch. */
  set(time: number): void
}

/**
 * Creates a clock for tests.
 * @param start - milliseconds since the Unix epoch, or a date. @default 1 January 2026, 00:00 UTC
 * @throws {PetStoreError} `invalid_option` for a time that is not from 1970 to 9999
 * @example
 * ```ts
 * import { manualClock } from 'petstore-kit/testing'
 *
 * const clock = manualClock()
 * clock.advance(60_000)
 * ```
 */
export function manualClock(start: number | Date = Date.UTC(2026, 0, 1)): ManualClock {
  let time = start instanceof Date ? start.getTime() : start
  let elapsed = 0
  const set = (name: string, next: number) => {
    // Otherwise, a rate-limit header would contain `NaN` later.
    if (!isTime(next)) throw invalidOption(name, 'a time from 1970 to 9999, in milliseconds since the Unix epoch', next)
    elapsed += Math.max(0, next - time)
    time = next
  }
  set('start', time)
  return {
    now: () => time,
    monotonic: () => elapsed,
    advance: (length) => set('milliseconds', time + length),
    set: (instant) => set('time', instant),
  }
}

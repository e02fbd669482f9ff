import type { Clock } from '../ports.ts'
import { systemClock } from '../support/time.ts'
import type { ClientSeams } from './options.ts'

/**
 * Measures how long the calls of a client take. It never steps back, whatever happens to the clock
 * of the machine.
 */
export interface Stopwatch {
  /** Returns the elapsed milliseconds since an unknown start. */
  elapsed(): number
  /** Waits. Rejects with the reason of the signal as soon as the signal aborts. */
  wait(milliseconds: number, signal: AbortSignal): Promise<void>
}

export function createStopwatch(clock: Clock, sleep: NonNullable<ClientSeams['sleep']>): Stopwatch {
  /** The milliseconds that timers have waited and the monotonic clock has not counted. */
  let skipped = 0
  const elapsed = () => (clock.monotonic?.() ?? systemClock.monotonic()) + skipped
  return {
    elapsed,
    async wait(milliseconds, signal) {
      const end = elapsed() + milliseconds
      await sleep(milliseconds, signal)
      // Fake timers of node:test replace `setTimeout`, but not `performance`. Real timers may be
      // early by a millisecond.
      skipped += Math.max(0, end - elapsed())
    },
  }
}

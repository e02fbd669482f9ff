import { setTimeout } from 'node:timers/promises'
import { systemClock } from '../../../src/support/time.ts'

/** How many animals are added before others may write. */
export const BETWEEN_BREAKS = 500

/** Returns a function to call after each animal. Between groups, it leaves time for others. */
export function breaks(): () => Promise<void> {
  let count = 0
  let startedAt = systemClock.monotonic()
  return async () => {
    if (++count % BETWEEN_BREAKS !== 0) return
    await leaveTimeForOthers(systemClock.monotonic() - startedAt)
    startedAt = systemClock.monotonic()
  }
}

/**
 * Waits as long as the last animals took, so that a server with the same database can write in that
 * time.
 */
export function leaveTimeForOthers(taken: number): Promise<void> {
  return setTimeout(Math.min(1_000, Math.max(10, taken)))
}

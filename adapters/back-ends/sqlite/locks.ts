import type { PetStoreError } from '../../../src/errors.ts'
import { sleep, systemClock } from '../../../src/support/time.ts'
import { unavailable } from '../shared/errors.ts'
import { isLocked, translated } from './errors.ts'

/**
 * How long to wait before a locked file is tried again, in milliseconds. After longer pauses, a
 * process rarely finds the file unlocked while others write all the time.
 */
export const LOCK_PAUSE = 2

export function lockedFor(busyTimeout: number): PetStoreError {
  return unavailable(
    new Error(`the database is locked: another process did not finish writing within ${busyTimeout} ms`),
  )
}

/** Resolves with what `work` returns. `work` may run several times, because the file may be locked. */
export type Read = <T>(work: () => T) => Promise<T>

/**
 * Returns what `read` returns. In WAL mode, a read has to wait only while another process opens or
 * closes the file; in other journal modes, also while it commits.
 */
export async function readWhenUnlocked<T>(read: () => T, busyTimeout: number): Promise<T> {
  const startedAt = systemClock.monotonic()
  for (;;) {
    try {
      return read()
    } catch (error) {
      if (!isLocked(error)) throw translated(error)
      if (systemClock.monotonic() - startedAt >= busyTimeout) throw lockedFor(busyTimeout)
      await sleep(LOCK_PAUSE)
    }
  }
}

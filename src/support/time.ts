import type { Clock } from '../ports.ts'

/** The clock of the runtime. Reads the globals at each call, because fake timers replace them. */
export const systemClock = { now: () => Date.now(), monotonic: () => performance.now() } satisfies Clock

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

/** Waits for a number of milliseconds. Rejects with the signal's reason as soon as the signal aborts. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason)
    const onAbort = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort)
      resolve()
    }, milliseconds)
    signal?.addEventListener('abort', onAbort, { once: true })
  })
}

/**
 * Returns a promise with the result of `promise`. The returned promise rejects if `promise` has not settled within the time limit.
 *
 * @param timeout - the limit, in milliseconds
 * @param onTimeout - returns the error with which the result rejects when the limit is reached
 */
export function withTimeout<T>(promise: Promise<T>, timeout: number, onTimeout: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), timeout)
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

import type { Clock } from '../ports.ts'

/** The windows of a rate limit, in milliseconds. */
export const MINUTE = 60_000
export const DAY = 86_400_000

/** The system clock. Reads the globals at each call, because fake timers replace them. */
export const systemClock = { now: () => Date.now(), monotonic: () => performance.now() } satisfies Clock

/** The end of the year 9999, the last year that ISO 8601 writes with four digits. */
export const LAST_TIME = Date.UTC(10_000, 0) - 1

/** Returns whether a value is a time in milliseconds, from 1970 to 9999. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value <= LAST_TIME
}

/**
 * Returns whether a text is a time with a zone, such as `2030-12-05T00:00:00Z`, from 1970 to 9999.
 */
export function isInstant(text: string): boolean {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)T.*(?:Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  // `Date.parse` reads 30 February as 1 or 2 March. The JSON of an invalid date is `null`.
  return isTime(Date.parse(text)) && new Date(day).toJSON()?.startsWith(day) === true
}

/**
 * Returns whether a time is probably in seconds: as seconds, it is from 2001 to 5138; as
 * milliseconds, from 1970 to 1973.
 */
export function looksLikeSeconds(time: number): boolean {
  return time >= 1e9 && time < 1e11
}

/**
 * Returns why a signal has aborted. The signals of React Native and of jsdom 20, the one of Jest 29,
 * have no `reason`. React Native has no `DOMException` either, so the error is a plain one.
 */
export function abortReason(signal: AbortSignal): unknown {
  if (signal.reason !== undefined) return signal.reason
  return Object.assign(new Error('This operation was aborted'), { name: 'AbortError' })
}

/**
 * Calls `start`, which starts work and may return a function to stop it. If the signal aborts,
 * stops the work and rejects.
 */
export async function untilAborted<T>(
  signal: AbortSignal | undefined,
  start: (resolve: (value: T) => void, reject: (reason: unknown) => void) => (() => unknown) | undefined,
): Promise<T> {
  if (signal?.aborted) throw abortReason(signal)
  let onAbort = () => {}
  try {
    return await new Promise((resolve, reject) => {
      const stop = start(resolve, reject)
      onAbort = () => {
        reject(signal && abortReason(signal))
        stop?.()
      }
      signal?.addEventListener('abort', onAbort)
    })
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Waits. Rejects with the signal's reason as soon as the signal aborts. */
export function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return untilAborted(signal, (resolve) => {
    const timer = setTimeout(resolve, milliseconds)
    return () => clearTimeout(timer)
  })
}

/**
 * Returns the result of `promise`. After `timeout` milliseconds without a result, rejects with what
 * `onTimeout` returns.
 */
export function withTimeout<T>(promise: Promise<T>, timeout: number, onTimeout: () => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(onTimeout()), timeout)
    Promise.resolve(promise)
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

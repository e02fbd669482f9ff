// Keep the real timers: a test may replace the global timers with fake timers, and the deadline must still end.
const { setTimeout, clearTimeout } = globalThis

/** How long to wait for something that never happens, in milliseconds: long enough for a busy machine. */
export const HANG = 300_000

/** Returns the value of a promise, or throws if the promise never settles. The error message begins with `what`. */
export function within<T>(promise: Promise<T>, what: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what}: nothing within ${HANG} ms`)), HANG)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

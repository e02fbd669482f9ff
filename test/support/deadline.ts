// Keep the real timers: a test may replace the global timers with fake timers, and the deadline must still end.
const { setTimeout, clearTimeout } = globalThis

/** Returns the value of a promise, or throws if the promise takes longer. The error message begins with `what`. */
export function within<T>(promise: Promise<T>, what: string, milliseconds = 10_000): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what}: nothing within ${milliseconds} ms`)), milliseconds)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

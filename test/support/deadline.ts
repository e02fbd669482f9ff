// Fake timers must not stop a deadline.
const { setTimeout, clearTimeout } = globalThis

/** Returns the value of a promise, or throws if it takes longer. A deadline never makes a test pass. */
export function within<T>(promise: Promise<T>, what: string, milliseconds = 10_000): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what}: nothing within ${milliseconds} ms`)), milliseconds)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

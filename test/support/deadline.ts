/** Gives what a promise brings, or fails where it takes longer: a deadline never makes a test pass. */
export function within<T>(promise: Promise<T>, what: string, milliseconds = 10_000): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${what}: nothing within ${milliseconds} ms`)), milliseconds)
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

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

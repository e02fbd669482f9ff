/**
 * Creates a promise that also rejects as soon as the signal aborts.
 *
 * @param run - starts the work, and returns a function that an abort calls to stop it
 */
export async function untilAborted<T>(
  signal: AbortSignal | undefined,
  run: (resolve: (value: T) => void, reject: (reason: unknown) => void) => () => unknown,
): Promise<T> {
  signal?.throwIfAborted()
  let onAbort = () => {}
  try {
    return await new Promise((resolve, reject) => {
      const stop = run(resolve, reject)
      onAbort = () => {
        reject(signal?.reason)
        stop()
      }
      signal?.addEventListener('abort', onAbort)
    })
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

/** Starts work by `run`, which returns a function to stop it. If the signal aborts, stops the work and rejects. */
export async function untilAborted<T>(
  signal: AbortSignal | undefined,
  run: (resolve: (value: T) => void, reject: (reason: unknown) => void) => (() => unknown) | undefined,
): Promise<T> {
  signal?.throwIfAborted()
  let onAbort = () => {}
  try {
    return await new Promise((resolve, reject) => {
      const stop = run(resolve, reject)
      onAbort = () => {
        reject(signal?.reason)
        stop?.()
      }
      signal?.addEventListener('abort', onAbort)
    })
  } finally {
    signal?.removeEventListener('abort', onAbort)
  }
}

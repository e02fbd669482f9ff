/**
 * Returns a function that starts `work`, unless `work` is still running. No request waits for this work, so an error is ignored,
 * and the next call tries again.
 */
export function inBackground(work: () => Promise<unknown>): () => void {
  let isRunning = false
  return async () => {
    if (isRunning) return
    isRunning = true
    try {
      await work()
    } catch {
    } finally {
      isRunning = false
    }
  }
}

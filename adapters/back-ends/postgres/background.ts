import type { PetStoreError } from '../../../src/index.ts'

/**
 * Returns a function to call after each use of a table, or once for many uses with their number.
 * Once in `period` uses, it starts `work`, unless `work` still runs. No request waits for `work`,
 * so an error of `work` goes to `report`. If `work` fails several times in a row, only one error is
 * reported. A single `service_unavailable` is not reported, because requests report it too.
 */
export function inBackground(
  period: number,
  work: () => Promise<unknown>,
  report: (error: unknown) => void,
): (uses?: number) => void {
  // Random: on Workers, a back end serves one request. If each began with `work`, every request
  // would run it.
  let usesLeft = Math.floor(Math.random() * period)
  let isRunning = false
  let weightOfFailures = 0
  return async (uses = 1) => {
    usesLeft -= uses
    if (usesLeft >= 0 || isRunning) return
    usesLeft = period - 1
    isRunning = true
    try {
      await work()
      weightOfFailures = 0
    } catch (error) {
      const before = weightOfFailures
      weightOfFailures += (error as PetStoreError).code === 'service_unavailable' ? 1 : 2
      if (before < 2 && weightOfFailures >= 2) report(error)
    } finally {
      isRunning = false
    }
  }
}

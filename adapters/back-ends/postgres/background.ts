import type { PetStoreError } from '../../../src/index.ts'

/**
 * Returns a function to call at each use of a table, or with the number of uses. It starts `work` at the first use, and then
 * after every `period` uses, unless `work` still runs. No request waits for `work`, so its errors go to `report`: one error if
 * `work` fails several times in a row. A single `service_unavailable` is not reported, because requests report it too.
 */
export function inBackground(
  period: number,
  work: () => Promise<unknown>,
  report: (error: unknown) => void,
): (uses?: number) => void {
  let usesLeft = 0
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

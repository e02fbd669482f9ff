import type { PetStoreError } from '../../../src/index.ts'

/**
 * Returns a function that starts `work`, unless `work` is still running. No request waits for `work`, so its errors go to `report`:
 * only the first of several in a row. A single `service_unavailable` is not reported, because requests report it too.
 */
export function inBackground<Input extends unknown[]>(
  work: (...input: Input) => Promise<unknown>,
  report: (error: unknown) => void,
): (...input: Input) => void {
  let isRunning = false
  let failures = 0
  let hasReported = false
  return async (...input) => {
    if (isRunning) return
    isRunning = true
    try {
      await work(...input)
      failures = 0
      hasReported = false
    } catch (error) {
      failures++
      if (!hasReported && (failures > 1 || (error as PetStoreError).code !== 'service_unavailable')) {
        hasReported = true
        report(error)
      }
    } finally {
      isRunning = false
    }
  }
}

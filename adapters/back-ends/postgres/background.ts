import type { PetStoreError } from '../../../src/index.ts'

/**
 * Returns a function that starts `work`, unless `work` is still running. No request waits for this work, so `report` gets an
 * error, and the next call tries again. Of several failures in succession, one is reported. An outage that lasts for one attempt
 * is not reported, because requests report it.
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

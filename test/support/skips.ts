import { appendFileSync } from 'node:fs'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    /** Whether this run includes the integration tests, so that packages are downloaded and CI skips nothing. */
    runsAll: boolean
    skipsFile: string
  }
}

/**
 * Returns whether tests must be skipped because this machine lacks `need`. If so, `need` is printed at the end of the test run.
 * With `CI=true`, a run with the integration tests throws instead, unless `optional` is true. If a test needs several programs, call this function
 * for each of them, because only then all of them are printed.
 */
export function missing(need: string, found: boolean, { optional = false } = {}): boolean {
  if (found) return false
  if (process.env.CI === 'true' && inject('runsAll') && !optional) {
    throw new Error(`CI skips nothing, but this machine has no ${need}`)
  }
  appendFileSync(inject('skipsFile'), `${need}\n`)
  return true
}

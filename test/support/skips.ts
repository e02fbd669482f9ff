import { appendFileSync } from 'node:fs'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    skipsFile: string
  }
}

/**
 * Returns whether tests must be skipped because this machine lacks `need`. If so, `need` is printed at the end of the test run.
 * With `CI=true`, throws instead, unless `optional` is true.
 */
export function missing(need: string, found: boolean, { optional = false } = {}): boolean {
  if (found) return false
  if (process.env.CI === 'true' && !optional) throw new Error(`CI skips nothing, but this machine has no ${need}`)
  appendFileSync(inject('skipsFile'), `${need}\n`)
  return true
}

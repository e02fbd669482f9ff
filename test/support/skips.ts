import { appendFileSync } from 'node:fs'
import { inject } from 'vitest'

declare module 'vitest' {
  interface ProvidedContext {
    skipsFile: string
  }
}

/**
 * Whether the tests that need something must be skipped because it is not on this machine: then the run says so in its
 * last lines. With `CI=true` what is missing fails the run, unless it is optional.
 */
export function missing(what: string, found: boolean, { optional = false } = {}): boolean {
  if (found) return false
  if (process.env.CI === 'true' && !optional) throw new Error(`CI skips nothing, but this machine has no ${what}`)
  appendFileSync(inject('skipsFile'), `${what}\n`)
  return true
}

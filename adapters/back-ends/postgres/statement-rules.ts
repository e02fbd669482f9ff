import type { BatchOptions, Reach } from './batches.ts'

/** How long a statement may take, in milliseconds, in addition to its wait for locks. */
const WORKING_TIME = 4_000

/** Returns the options that all batches share: the time limit of a statement, and which calls an error affects. */
export function statementRules(lockTimeout: number): Pick<BatchOptions<never, never>, 'timeout' | 'reachOf'> {
  return { timeout: lockTimeout + WORKING_TIME, reachOf }
}

/**
 * SQLSTATE codes that mean PostgreSQL refused a value:
 * - 22: data exceptions
 * - 23: constraints
 * - 54: program limits
 * - P0001: an error of a trigger that the user of this package added
 */
const REFUSED = /^(?:22...|23...|54...|P0001)$/
/** SQLSTATE codes and messages that mean a statement waited too long for a lock, a connection or a result. */
const TIMED_OUT = /^(?:55P03|57014)$|time ?out|did not return within/i

function reachOf(error: unknown): Reach {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown }
  if (REFUSED.test(String(code))) return 'call'
  const { code: state, message } = Object(cause) as { code?: unknown; message?: unknown }
  return TIMED_OUT.test(String(state)) || TIMED_OUT.test(String(message)) ? 'waiting' : 'statement'
}

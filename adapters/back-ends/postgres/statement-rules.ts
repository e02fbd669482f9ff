import type { BatchOptions, Reach } from '../shared/batches.ts'

/** How long a statement may work beside its wait for locks, in milliseconds. */
const WORKING_TIME = 4_000

/** Returns what all batches have in common: how long a statement may take, and how far its errors reach. */
export function statementRules(lockTimeout: number): Pick<BatchOptions<never, never>, 'timeout' | 'reachOf'> {
  return { timeout: lockTimeout + WORKING_TIME, reachOf }
}

/**
 * SQLSTATEs by which the engine refuses values: data exceptions (22), constraints (23), program limits (54), and exceptions of a
 * host's trigger (P0001).
 */
const REFUSED = /^(?:22...|23...|54...|P0001)$/
/** SQLSTATEs and messages, also of pg and pg-pool, of a statement that has waited too long for a lock, a connection or a result. */
const TIMED_OUT = /^(?:55P03|57014)$|time ?out|did not return within/i

function reachOf(error: unknown): Reach {
  const { code, cause } = Object(error) as { code?: unknown; cause?: unknown }
  if (REFUSED.test(String(code))) return 'call'
  const { code: state, message } = Object(cause) as { code?: unknown; message?: unknown }
  return TIMED_OUT.test(String(state)) || TIMED_OUT.test(String(message)) ? 'waiting' : 'statement'
}

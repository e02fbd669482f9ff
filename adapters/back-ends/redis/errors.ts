import { isPetStoreError } from '../../../src/errors.ts'

/**
 * An error reply of Redis begins with a word in capitals. Any other error of a client means that
 * the connection is lost.
 */
const REPLY = /^[A-Z][A-Z0-9]+(?: |$)/

/**
 * Matches replies after which clients get 503: Redis is loading, failing over, too busy, without
 * replicas, or out of memory or disk, or a limit of the Upstash plan is reached. Up to Redis 6, the
 * error of a command in a script is in the middle of a reply.
 */
const UNAVAILABLE =
  /(?:^|-)(?:LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|MISCONF|NOREPLICAS|MOVED|ASK|ERR max (?:number of clients|concurrent connections|(?:daily )?requests? limit)|ERR DB capacity)\b/

/**
 * Matches replies about a command or a key that an ACL or the configuration of the server forbids.
 * Up to Redis 7.0, the error of an ACL in a script has no code, and in Valkey it has another one.
 */
const FORBIDDEN = /^NOPERM\b|^ERR ACL failure\b|executing the script can't|called from(?: Lua)? script|^ERR TIME:/

/** Does not use `instanceof Error`: under Jest, it is false for Node's errors. */
export function isUnavailable(error: unknown): boolean {
  const { name, message } = Object(error) as { name?: unknown; message?: unknown }
  if (typeof message !== 'string' || name === 'TypeError' || isPetStoreError(error)) return false
  return UNAVAILABLE.test(message) || !REPLY.test(message)
}

/**
 * Returns whether a node of a cluster has sent the client to another node. Clients of a whole
 * cluster follow `MOVED` themselves.
 */
export function isMoved(error: unknown): boolean {
  return /^MOVED\b/.test(String(Object(error).message))
}

export function isForbidden(error: unknown): boolean {
  return FORBIDDEN.test(String(Object(error).message))
}

/** Redis forgets scripts after a restart, a flush or a failover. */
export function isScriptMissing(error: unknown): boolean {
  return /\bNOSCRIPT\b/.test(String(Object(error).message))
}

/**
 * Removes the arguments of the command that ioredis attaches to an error. Otherwise, logs could
 * show the password of `AUTH`.
 */
export function concealCommand(error: unknown, seen = new Set<unknown>()): void {
  if (typeof error !== 'object' || error === null || seen.has(error)) return
  seen.add(error)
  const { command, cause, errors, lastNodeError } = error as Record<string, unknown>
  if (typeof command === 'object' && command !== null) {
    const { name } = command as { name?: unknown }
    // If the error is frozen, this does not throw, and the arguments of the command stay.
    Reflect.defineProperty(error, 'command', { value: { name }, enumerable: true, configurable: true })
  }
  for (const inner of [cause, lastNodeError, ...(Array.isArray(errors) ? errors : [])]) concealCommand(inner, seen)
}

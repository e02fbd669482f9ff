/** What the engine itself replies begins with a word in capitals; whatever else a client throws is a lost connection. */
const REPLY = /^[A-Z][A-Z0-9]+(?: |$)/

/**
 * Replies of an engine that cannot work now: loading, failing over, out of memory or disk, without replicas, too busy. Until
 * version 6, what a script met stands further on in the reply.
 */
const UNAVAILABLE =
  /(?:^|-)(?:LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|MISCONF|NOREPLICAS|MOVED|ASK|ERR max number of clients)\b/

/** Whether a failure says that the engine cannot be reached or cannot work now. Node's own are of another realm under Jest. */
export function isUnavailable(error: unknown): boolean {
  const { name, message } = Object(error) as { name?: unknown; message?: unknown }
  if (typeof message !== 'string' || name === 'TypeError') return false
  return UNAVAILABLE.test(message) || !REPLY.test(message)
}

/** Whether the engine does not have the script: it was restarted or flushed, or another has taken over. */
export function isScriptMissing(error: unknown): boolean {
  return error instanceof Error && /\bNOSCRIPT\b/.test(error.message)
}

/** ioredis hangs on an error the command that has failed: where that is the greeting, it holds the password. */
export function concealCommand(error: unknown, seen = new Set<unknown>()): void {
  if (typeof error !== 'object' || error === null || seen.has(error)) return
  seen.add(error)
  const { command, cause, errors, lastNodeError } = error as Record<string, unknown>
  if (typeof command === 'object' && command !== null) {
    const { name } = command as { name?: unknown }
    // Where it cannot be changed, it stays: what has failed must be told all the same.
    Reflect.defineProperty(error, 'command', { value: { name }, enumerable: true, configurable: true })
  }
  for (const inner of [cause, lastNodeError, ...(Array.isArray(errors) ? errors : [])]) concealCommand(inner, seen)
}

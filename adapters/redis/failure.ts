/** What the engine itself replies begins with a word in capitals; whatever else a client throws is a lost connection. */
const REPLY = /^[A-Z][A-Z0-9]+(?: |$)/

/**
 * Replies of an engine that cannot work now: loading, failing over, out of memory or disk, without replicas, too busy. Until
 * version 6, what a script met stands further on in the reply.
 */
const UNAVAILABLE =
  /(?:^|-)(?:LOADING|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|BUSY|OOM|MISCONF|NOREPLICAS|MOVED|ASK|ERR max number of clients)\b/

/** Whether a failure says that the engine cannot be reached or cannot work now. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof TypeError) return false
  return UNAVAILABLE.test(error.message) || !REPLY.test(error.message)
}

/** Whether the engine does not have the script: it was restarted or flushed, or another has taken over. */
export function isScriptMissing(error: unknown): boolean {
  return error instanceof Error && /\bNOSCRIPT\b/.test(error.message)
}

/** ioredis hangs on an error the command that has failed: where that is the greeting, it holds the password. */
export function concealCommand(error: unknown): void {
  const failed = error as { command?: { name?: unknown } | undefined; cause?: unknown } | null | undefined
  if (typeof failed !== 'object' || failed === null) return
  if (failed.command) failed.command = { name: failed.command.name }
  if (failed.cause !== failed) concealCommand(failed.cause)
}

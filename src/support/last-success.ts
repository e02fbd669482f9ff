/** When a call of a port last succeeded. */
export interface LastSuccess {
  /** Milliseconds since the Unix epoch, by the clock of the pet store. */
  time: number
}

/** Belongs to the ports, not to this module: a member of the port itself would change an object of the caller. */
const lastSuccesses = new WeakMap<object, LastSuccess>()

/** Returns the last success of a port. The pet stores that use the port write it, and `readyCheck` reads it. */
export function lastSuccessOf(port: object): LastSuccess {
  const known = lastSuccesses.get(port)
  if (known) return known
  const created = { time: Number.NEGATIVE_INFINITY }
  lastSuccesses.set(port, created)
  return created
}

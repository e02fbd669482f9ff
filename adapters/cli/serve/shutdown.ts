import { systemClock } from '../../../src/support/time.ts'
import { isPersistent } from '../engines/back-end.ts'
import type { ServeFlags } from '../terminal/flags.ts'
import { fail } from '../terminal/output.ts'

/** How long requests may take after the server has begun to close, in milliseconds. */
export const CLOSE_TIMEOUT = 10_000

/**
 * How long the back end may take to close, in milliseconds. Connections to an engine that hangs
 * never close.
 */
const BACK_END_CLOSE_TIMEOUT = 2_000

/**
 * The milliseconds for which `/ready` responds with 503 before the server closes: a load balancer
 * must notice the 503.
 */
const DRAIN_DELAY = 5_000

/**
 * At a terminal, or with a store in memory, no other server takes over the requests, so there is no
 * delay.
 */
export function drainDelayOf({ drainDelay, ...database }: ServeFlags): number {
  return drainDelay ?? (process.stdin.isTTY || !isPersistent(database) ? 0 : DRAIN_DELAY)
}

/** A second Ctrl-C within these milliseconds is the same one: npm and bash pass it on too. */
const REPEAT = 1_000

type Close = () => Promise<void>

/**
 * On the first SIGINT or SIGTERM, closes the server, then the back end. A later signal ends the
 * process at once. Returns a signal that aborts when closing begins.
 */
export function closeOnSignal(
  drainDelay: number,
  closeServer: Close,
  closeBackEnd: Close,
  now = systemClock.monotonic,
): AbortSignal {
  const controller = new AbortController()
  let startedAt = 0
  const close = async () => {
    await closeServer()
    setTimeout(() => process.exit(), BACK_END_CLOSE_TIMEOUT).unref()
    await closeBackEnd()
  }
  const onSignal = () => {
    if (controller.signal.aborted) {
      if (now() - startedAt >= REPEAT) process.exit(1)
      return
    }
    startedAt = now()
    const draining = drainDelay === 0 ? '' : `/ready responds with 503 for ${drainDelay / 1_000} s; then `
    console.error(
      `\nClosing: ${draining}running requests may take up to ${CLOSE_TIMEOUT / 1_000} s. Press Ctrl-C again to exit at once.`,
    )
    controller.abort()
    close().catch(fail)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
  return controller.signal
}

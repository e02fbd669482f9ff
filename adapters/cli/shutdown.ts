import { fail } from './output.ts'

/** How long running requests may take after closing begins, in milliseconds. */
export const CLOSE_TIMEOUT = 10_000

/** How long the back end may take to close, in milliseconds. If PostgreSQL or Redis hangs, its connections never close. */
const BACK_END_CLOSE_TIMEOUT = 2_000

const MESSAGE = `Closing: running requests may take up to ${CLOSE_TIMEOUT / 1_000} seconds. Ctrl-C again ends it at once.`

/**
 * On the first SIGINT or SIGTERM, lets running requests finish, then closes the back end. The second signal ends the process at
 * once.
 *
 * @returns an AbortSignal, aborted when closing begins
 */
export function closeOnSignal(closeServer: () => Promise<void>, closeBackEnd: () => Promise<void>): AbortSignal {
  const controller = new AbortController()
  const close = async () => {
    await closeServer()
    setTimeout(() => process.exit(), BACK_END_CLOSE_TIMEOUT).unref()
    await closeBackEnd()
  }
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(1)
    console.error(`\n${MESSAGE}`)
    controller.abort()
    close().catch(fail)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
  return controller.signal
}

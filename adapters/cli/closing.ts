import { fail } from './fail.ts'

/** How long the back end may take to be let go of, in milliseconds: an engine that stands still never says goodbye. */
const FAREWELL = 2_000

/**
 * The first signal lets running requests finish, and then lets go of the back end; a second one, of whichever kind, does not
 * wait. What is given back tells whoever works beside them of the first.
 */
export function closeOnSignal(finish: () => Promise<void>, letGo: () => Promise<void>): AbortSignal {
  const controller = new AbortController()
  const close = async () => {
    await finish()
    setTimeout(() => process.exit(), FAREWELL).unref()
    await letGo()
  }
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(1)
    console.log('\nClosing.')
    controller.abort()
    close().catch(fail)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
  return controller.signal
}

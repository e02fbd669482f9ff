import type { ApiRequest, PetStore } from '../../src/index.ts'
import { loggedPath } from './log.ts'
import { escaped, fail } from './output.ts'

/** How long running requests may take after closing begins, in milliseconds. */
export const CLOSE_TIMEOUT = 10_000

/** Returns a pet store that also keeps the set of its running requests. */
export function watchRequests(petStore: PetStore): PetStore & { readonly running: ReadonlySet<ApiRequest> } {
  const running = new Set<ApiRequest>()
  const handle: PetStore['handle'] = async (request) => {
    running.add(request)
    try {
      return await petStore.handle(request)
    } finally {
      running.delete(request)
    }
  }
  return { ...petStore, handle, running }
}

/** How long the back end may take to close, in milliseconds. If PostgreSQL or Redis hangs, its connections never close. */
const BACK_END_CLOSE_TIMEOUT = 2_000

/**
 * On the first SIGINT or SIGTERM, lets running requests finish, then closes the back end. The second signal ends the process at
 * once.
 *
 * @returns an AbortSignal, aborted when closing begins
 */
export function closeOnSignal(
  running: ReadonlySet<ApiRequest>,
  closeServer: () => Promise<void>,
  closeBackEnd: () => Promise<void>,
): AbortSignal {
  const controller = new AbortController()
  const close = async () => {
    await closeServer()
    setTimeout(() => process.exit(), BACK_END_CLOSE_TIMEOUT).unref()
    await closeBackEnd()
  }
  const onSignal = () => {
    if (controller.signal.aborted) process.exit(1)
    console.error(`\n${closingMessage([...running])}`)
    controller.abort()
    close().catch(fail)
  }
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, onSignal)
  return controller.signal
}

/** Returns a message about the requests that the server waits for while it closes, and for how long. */
export function closingMessage(running: readonly Pick<ApiRequest, 'method' | 'target'>[]): string {
  const [first, ...others] = running
  if (first === undefined) return 'Closing.'
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  const request = escaped(`${first.method} ${loggedPath(first.target)}`)
  return `Closing: waiting up to ${CLOSE_TIMEOUT / 1_000} seconds for ${request}${more} to finish. Ctrl-C again ends it at once.`
}

import { LRUCache } from 'lru-cache'
import { withTimeout } from '../support/time.ts'

/** How long a request waits for the look-up of another request, in milliseconds, before it looks up the token itself. */
const LONGEST_WAIT = 5_000

/** Look-ups that requests with the same token share. */
export interface SharedLookUps<Found> {
  /** Looks up a token, or waits for the look-up of another request. */
  find(token: string): Promise<Found>
  /** Later calls of `find` do not wait for the look-up that is in progress now. Without a token, this holds for all tokens. */
  drop(token?: string): void
}

/**
 * Returns a function that shares look-ups in progress. On Workers, a promise stays pending for ever if its request has ended, and
 * after a lost connection, a driver may never respond. So a request that has waited for another one looks up the token itself, and
 * uses the first result.
 * @param lookUp - looks up a token. `isDropped` says whether `drop` was called meanwhile, so the result may be outdated
 * @param max - the largest number of look-ups that are shared at the same time
 */
export function sharedLookUps<Found>(
  lookUp: (token: string, isDropped: () => boolean) => Promise<Found>,
  max: number,
): SharedLookUps<Found> {
  const running = new LRUCache<string, { readonly found: Found }>({
    // A look-up in progress has the size 1. Its result has the size 2, which is too large: only look-ups in progress are kept.
    maxSize: max,
    maxEntrySize: 1,
    sizeCalculation: () => 2,
    // Requests that wait for a look-up get its result, even if the look-up is dropped meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (token, _previous, { signal }) => ({ found: await lookUp(token, () => signal.aborted) }),
  })

  async function find(token: string): Promise<Found> {
    const status: LRUCache.Status<string, { readonly found: Found }> = {}
    const first = running.forceFetch(token, { status })
    if (status.fetch !== 'inflight') return (await first).found
    const isLate = Symbol('late')
    try {
      return (await withTimeout(first, LONGEST_WAIT, () => isLate)).found
    } catch (error) {
      if (error !== isLate) throw error
    }
    running.delete(token)
    return (await Promise.race([first, running.forceFetch(token)])).found
  }

  return {
    find,
    drop(token) {
      if (token === undefined) running.clear()
      else running.delete(token)
    },
  }
}

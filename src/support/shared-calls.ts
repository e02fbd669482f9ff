import { LRUCache } from 'lru-cache'
import type { Clock } from '../ports.ts'
import { withTimeout } from './time.ts'

/** The options of {@link sharedCalls}. */
interface SharingOptions {
  /** The largest number of calls that are shared at the same time. */
  readonly max: number
  /** How long a request waits for the call of another request, in milliseconds. */
  readonly longestWait: number
  /** The clock that measures how old a call is. */
  readonly clock: Clock
}

/** Calls that requests with the same name share while they are in progress. */
export interface SharedCalls<Result> {
  /** Makes a call, or waits for the call of another request. */
  run(name: string): Promise<Result>
  /** Later requests do not wait for the call that is in progress now. Without a name, this holds for all calls. */
  drop(name?: string): void
}

/**
 * Returns a function that shares calls in progress. On Workers, a promise stays pending for ever if its request has ended, and
 * after a lost connection, a driver may never respond. So a request waits for another one only for a while. Then it makes the call
 * itself, and uses the first result of both.
 * @param call - `isDropped` says whether the call was dropped meanwhile, so its result may be outdated
 */
export function sharedCalls<Result>(
  call: (name: string, isDropped: () => boolean) => Promise<Result>,
  { max, longestWait, clock }: SharingOptions,
): SharedCalls<Result> {
  const running = new LRUCache<string, { readonly result: Result }>({
    // A call in progress has the size 1. Its result has the size 2, which is too large: only calls in progress are kept.
    maxSize: max,
    maxEntrySize: 1,
    sizeCalculation: () => 2,
    ttl: longestWait,
    ttlResolution: 0,
    perf: clock,
    // Requests that wait for a call get its result, even if the call is dropped meanwhile.
    ignoreFetchAbort: true,
    fetchMethod: async (name, _previous, { signal }) => ({ result: await call(name, () => signal.aborted) }),
  })

  async function run(name: string): Promise<Result> {
    // `fetch` of lru-cache joins a call of any age.
    if (running.getRemainingTTL(name) <= 0) running.delete(name)
    const status: LRUCache.Status<string, { readonly result: Result }> = {}
    const first = running.forceFetch(name, { status })
    if (status.fetch !== 'inflight') return (await first).result
    const isLate = Symbol('late')
    try {
      return (await withTimeout(first, longestWait, () => isLate)).result
    } catch (error) {
      if (error !== isLate) throw error
    }
    running.delete(name)
    return (await Promise.race([first, running.forceFetch(name)])).result
  }

  return {
    run,
    drop(name) {
      if (name === undefined) running.clear()
      else running.delete(name)
    },
  }
}

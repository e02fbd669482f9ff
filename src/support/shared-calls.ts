import type { LRUCache } from 'lru-cache'
import type { Clock } from '../ports.ts'
import { boundedMap } from './bounded-map.ts'
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
  /**
   * Drops the call of this name that is in progress, or without a name, all calls: later requests
   * do not wait for it.
   */
  drop(name?: string): void
}

/** A call in progress. */
interface Call<Result> {
  readonly result: Promise<Result>
  readonly startedAt: number
}

/**
 * Returns a function that shares calls in progress. On Workers, a promise stays pending for ever if
 * its request has ended, and after a lost connection, a driver may never respond. So a request
 * waits for another one only for a while. Then it makes the call itself, and uses the first result
 * of both.
 * @param call - `isDropped` says whether the call was dropped meanwhile, so its result may be
 * outdated
 */
export function sharedCalls<Result>(
  call: (name: string, isDropped: () => boolean) => Promise<Result>,
  { max, longestWait, clock }: SharingOptions,
): SharedCalls<Result> {
  // `fetch` of lru-cache is not used: it has an `AbortController` for each call, and on Workers,
  // `abort` throws in another request.
  const running: LRUCache<string, Call<Result>> = boundedMap(max)

  async function run(name: string): Promise<Result> {
    const first = running.get(name)
    if (first === undefined || !isYoung(first)) return start(name)
    const isLate = Symbol('late')
    try {
      return await withTimeout(first.result, longestWait, () => isLate)
    } catch (error) {
      if (error !== isLate) throw error
    }
    return Promise.race([first.result, start(name)])
  }

  function isYoung({ startedAt }: Call<Result>): boolean {
    return Math.abs(clock.now() - startedAt) < longestWait
  }

  /** Makes a call. Later requests wait for this one, and no longer for an older one. */
  function start(name: string): Promise<Result> {
    const isCurrent = (): boolean => running.peek(name) === started
    const started: Call<Result> = { result: call(name, () => !isCurrent()), startedAt: clock.now() }
    running.set(name, started)
    const end = () => {
      if (isCurrent()) running.delete(name)
    }
    started.result.then(end, end)
    return started.result
  }

  return {
    run,
    drop(name) {
      if (name === undefined) running.clear()
      else running.delete(name)
    },
  }
}

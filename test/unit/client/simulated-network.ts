import { vi } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import type { PetStoreClient, PetStoreClientOptions } from '../../../src/client/index.ts'
import { createPetStore, memory, type PlanLimits } from '../../../src/index.ts'

export const MINUTE = 60_000
/** The start of a minute. */
export const START = Date.UTC(2026, 0, 1)

interface Simulation {
  /** The limits of the key. @default those of the plan `free`, with more requests per day */
  readonly limits?: PlanLimits
  /** How long after the start of a minute the first call is made, in milliseconds. @default 0 */
  readonly offset?: number
  /** Returns how long a request or a response travels, in milliseconds. Clients are numbered from 0. @default 20 */
  readonly latency?: (client: number) => number
  /** Returns a number from 0 to 1 for each wait. @default 0.5 */
  readonly random?: () => number
  /**
   * Responds in place of the pet store, or throws. Gets the number of the request, from 1, and the milliseconds since the
   * first call.
   */
  readonly instead?: (number: number, elapsed: number, init: RequestInit) => Response | Promise<Response> | undefined
}

/**
 * Starts a pet store in memory behind a network with latency, on fake timers, and one API key for all clients. The test
 * must call `vi.useRealTimers`.
 */
export function simulate(simulation: Simulation = {}) {
  const { limits = { perMinute: 60, perDay: 1_000_000 }, offset = 0, instead } = simulation
  const { latency = () => 20, random = () => 0.5 } = simulation
  vi.useFakeTimers({ now: START + offset, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  const { storage, quota } = memory()
  const key = { id: 'key_1', plan: 'free', limits }
  const { fetch } = createPetStore({ storage, quota, keyStore: { find: async () => key } })
  const travel = (client: number) => new Promise((resolve) => setTimeout(resolve, latency(client)))
  let clients = 0
  /** How many requests the store is handling. It hashes keys on other threads, for which fake time must not pass. */
  let handling = 0
  const seen = { statuses: [] as number[], codes: [] as string[], paths: [] as string[], inFlight: 0, mostInFlight: 0 }
  const elapsed = () => Date.now() - START - offset

  async function serve(url: string, init: RequestInit): Promise<Response> {
    handling++
    try {
      const { signal: _, ...others } = init
      return await fetch(url, others)
    } finally {
      handling--
    }
  }

  async function exchange(client: number, url: string, init: RequestInit): Promise<Response> {
    const number = seen.paths.push(url)
    seen.mostInFlight = Math.max(seen.mostInFlight, ++seen.inFlight)
    try {
      await travel(client)
      const response = (await instead?.(number, elapsed(), init)) ?? (await serve(url, init))
      seen.statuses.push(response.status)
      if (response.status === 429) seen.codes.push((await response.clone().json()).code)
      await travel(client)
      return response
    } finally {
      seen.inFlight--
    }
  }

  function newClient(options: Partial<PetStoreClientOptions> = {}): PetStoreClient {
    const client = clients++
    const fetch = (url: string, init: RequestInit) => exchange(client, url, init)
    return createClient({ baseUrl: 'https://api.example/v1', apiKey: 'pet_abc', fetch, ...options }, { random })
  }

  /** Moves the fake time until all calls have settled. Returns the reasons of those that have rejected. */
  async function rejections(calls: readonly Promise<unknown>[]): Promise<unknown[]> {
    let results: PromiseSettledResult<unknown>[] | undefined
    void Promise.allSettled(calls).then((all) => {
      results = all
    })
    for (let turns = 0; results === undefined && turns < 50_000; turns++) {
      while (handling > 0) await new Promise((resolve) => setImmediate(resolve))
      // Without this, a call that has just settled would be noticed only after the next timer, at a later fake time.
      await vi.advanceTimersByTimeAsync(0)
      if (results === undefined && handling === 0) await vi.advanceTimersToNextTimerAsync()
    }
    if (results === undefined) throw new Error('some calls never settle')
    return results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))
  }

  const refusals = () => seen.codes.length
  const isBanned = () => seen.codes.includes('api_key_banned')
  return { newClient, seen, rejections, elapsed, refusals, isBanned, storage }
}

export const times = (count: number) => Array.from({ length: count }, (_, i) => i)

/** Fails as the `fetch` of Node does while nothing listens. */
export function unreachable(): never {
  throw new TypeError('fetch failed', { cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) })
}

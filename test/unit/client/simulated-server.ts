import { vi } from 'vitest'
import { createClient, type PetStoreClient } from '../../../src/client/client.ts'
import type { PetStoreClientOptions } from '../../../src/client/options.ts'
import type { PlanLimits } from '../../../src/index.ts'
import { countRequest, newQuotaState } from '../../../src/quota/counting-rule.ts'
import { allowanceOf } from '../../../src/quota/rate-limit.ts'

export const MINUTE = 60_000
export const START = Date.UTC(2026, 0, 1)
export const FREE: PlanLimits = { perMinute: 60, perDay: 1_000_000 }

interface Simulation {
  readonly limits?: PlanLimits
  /** Milliseconds between the start of the first minute and the first call. */
  readonly offset?: number
  /** Returns the milliseconds that a request or a response travels. Clients are numbered from 0. */
  readonly latency?: (client: number) => number
  /** Returns a number from 0 to 1 for each back-off. */
  readonly random?: () => number
  /** Responds instead of the server, or throws. Gets the number of the request, and the milliseconds since the first call. */
  readonly instead?: (number: number, elapsed: number, init: RequestInit) => Response | Promise<Response> | undefined
}

const respond = (status: number, headers: HeadersInit, body: unknown = []) =>
  new Response(JSON.stringify(body), { status, headers })

/** Starts a server that counts requests of one key like the service, on fake timers. The test must call `vi.useRealTimers`. */
export function simulate({ limits = FREE, offset = 0, latency = () => 20, random, instead }: Simulation = {}) {
  vi.useFakeTimers({ now: START + offset, toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'] })
  const state = newQuotaState()
  const travel = (client: number) => new Promise((resolve) => setTimeout(resolve, latency(client)))
  let clients = 0
  const seen = { statuses: [] as number[], paths: [] as string[], waits: 0, mostInFlight: 0, inFlight: 0 }
  const elapsed = () => Date.now() - START - offset

  async function exchange(client: number, url: string, init: RequestInit): Promise<Response> {
    const number = seen.paths.push(url)
    seen.mostInFlight = Math.max(seen.mostInFlight, ++seen.inFlight)
    await travel(client)
    const response = (await instead?.(number, elapsed(), init)) ?? serve(Date.now())
    seen.statuses.push(response.status)
    await travel(client)
    seen.inFlight--
    return response
  }

  function serve(now: number): Response {
    const count = countRequest(state, { limits, ban: { afterRefusals: limits.perMinute, seconds: 300 }, now })
    const { limit, remaining, resetsAt, refusal } = allowanceOf(count, limits)
    const headers = {
      Date: new Date(now).toUTCString(),
      'X-RateLimit-Limit': String(limit),
      'X-RateLimit-Remaining': String(remaining),
      'X-RateLimit-Reset': String(Math.ceil(resetsAt / 1000)),
    }
    if (refusal === undefined) return respond(200, headers)
    const body = { code: refusal.code, message: 'Refused.', status: 429 }
    return respond(429, { ...headers, 'Retry-After': String(refusal.retryAfter) }, body)
  }

  function newClient(options: Partial<PetStoreClientOptions> = {}): PetStoreClient {
    const client = clients++
    const fetch = (url: string, init: RequestInit) => exchange(client, url, init)
    return createClient(
      { baseUrl: 'https://api.example/v1', apiKey: 'pet_abc', fetch, ...options },
      random && { random },
    )
  }

  /** Moves the fake time until all calls have settled. */
  async function settled<T>(calls: readonly Promise<T>[]): Promise<PromiseSettledResult<T>[]> {
    let results: PromiseSettledResult<T>[] | undefined
    void Promise.allSettled(calls).then((all) => {
      results = all
    })
    for (let turns = 0; results === undefined && turns < 50_000; turns++) {
      await vi.advanceTimersToNextTimerAsync()
      // Without this, a call that has just settled would be noticed only after the next timer, at a later fake time.
      await vi.advanceTimersByTimeAsync(0)
    }
    if (results === undefined) throw new Error('some calls never settle')
    return results
  }

  const refusals = () => seen.statuses.filter((status) => status === 429).length
  return { newClient, seen, settled, elapsed, refusals, isBanned: () => state.bannedUntil > 0 }
}

export const rejections = (results: readonly PromiseSettledResult<unknown>[]): unknown[] =>
  results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []))

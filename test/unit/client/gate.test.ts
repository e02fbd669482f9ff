import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import type { PetStoreClientOptions } from '../../../src/client/options.ts'
import { createPetStore, memory, type PlanLimits } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 0, 1)

interface ServerOptions {
  readonly limits?: PlanLimits
  /** Changes the response to the nth request, counted from 0; may throw. */
  readonly change?: (response: Response, index: number) => Response
  /** Waits before a request reaches the store, and before its response reaches the client. */
  readonly latency?: () => Promise<void>
}

/** A store in memory with one key of the plan free, and clients that advance its clock instead of waiting. */
async function start({ limits, change = (response) => response, latency = async () => {} }: ServerOptions = {}) {
  const clock = manualClock(START)
  const backEnd = memory({ clock })
  const { token } = await backEnd.keyStore.issue(
    limits === undefined ? { plan: 'free' } : { plan: 'enterprise', limits },
  )
  const petStore = createPetStore({ ...backEnd, clock })
  const seen = { statuses: [] as number[], bodies: [] as string[], inFlight: 0, mostInFlight: 0, waits: [] as number[] }
  const fetch = async (url: string, init: RequestInit) => {
    const index = seen.bodies.push(String(init.body)) - 1
    seen.mostInFlight = Math.max(seen.mostInFlight, ++seen.inFlight)
    try {
      await latency()
      const response = await petStore.fetch(new Request(url, init))
      seen.statuses.push(response.status)
      await latency()
      return change(response, index)
    } finally {
      seen.inFlight -= 1
    }
  }
  const sleep = async (milliseconds: number, signal?: AbortSignal) => {
    signal?.throwIfAborted()
    seen.waits.push(milliseconds)
    clock.advance(milliseconds)
  }
  const newClient = (options: Partial<PetStoreClientOptions> = {}) =>
    createClient(
      { baseUrl: 'https://api.example/v1', apiKey: token, fetch, ...options },
      { sleep, clock, random: () => 1 },
    )
  const refusals = () => seen.statuses.filter((status) => status === 429).length
  return { clock, seen, newClient, client: newClient(), refusals, petStore }
}

const rex = (i: number) => ({ name: `Rex ${i}`, categoryId: 1n })
const times = (count: number) => Array.from({ length: count }, (_, i) => i)

describe('200 parallel calls on the plan free', () => {
  test('all calls succeed in four windows without a refusal', async () => {
    const { client, clock, refusals, seen } = await start()
    const pets = await Promise.all(times(200).map((i) => client.createPet(rex(i))))
    expect(new Set(pets.map(({ id }) => id)).size).toBe(200)
    expect([refusals(), clock.now() - START]).toEqual([0, 3 * MINUTE])
    expect(seen.waits).toEqual([MINUTE, MINUTE, MINUTE])
  })

  test('onRetry says once for each window why all calls wait', async () => {
    const retries: unknown[] = []
    const { newClient } = await start()
    const client = newClient({ onRetry: (retry) => retries.push(retry) })
    await Promise.all(times(121).map((i) => client.createPet(rex(i))))
    const error = expect.objectContaining({
      code: 'rate_limit_exceeded',
      retryAfter: 60,
      message: 'All 60 requests of this window are used up, and it ends in 60 seconds.',
    })
    expect(retries).toEqual([
      { attempt: 0, delay: MINUTE, error },
      { attempt: 0, delay: MINUTE, error },
    ])
  })

  test.each([2, 5])('%i clients with one key do not get it banned', async (count) => {
    const { newClient, seen } = await start()
    const clients = times(count).map(() => newClient())
    // A ban would make a call reject, because it lasts longer than a call waits.
    await Promise.all(times(200).map((i) => clients[i % count]?.createPet(rex(i))))
    expect(seen.statuses.filter((status) => status === 201).length).toBe(200)
  })
})

test('for every limit and latency, a client gets no refusal, keeps the order, and uses no window more than needed', async () => {
  const run = fc.asyncProperty(
    fc.integer({ min: 1, max: 40 }),
    fc.integer({ min: 1, max: 90 }),
    fc.scheduler(),
    async (perMinute, calls, scheduler) => {
      const latency = () => scheduler.schedule(Promise.resolve())
      const { client, clock, refusals, seen } = await start({ limits: { perMinute, perDay: 10_000 }, latency })
      const all = Promise.all(times(calls).map((i) => client.createPet(rex(i))))
      await scheduler.waitFor(all)
      const windows = Math.ceil(calls / perMinute) - 1
      expect({ refusals: refusals(), time: clock.now() - START }).toEqual({ refusals: 0, time: windows * MINUTE })
      const order = seen.bodies.map((body) => Number(/Rex (\d+)/.exec(body)?.[1]))
      expect(order).toEqual(times(calls))
    },
  )
  await fc.assert(run, { numRuns: 40 })
})

describe('the gate', () => {
  test('after one response, calls run in parallel', async () => {
    const { client, seen } = await start({ limits: { perMinute: 1_000, perDay: 10_000 } })
    await client.listPets()
    await Promise.all(times(300).map(() => client.listPets()))
    expect(seen.mostInFlight).toBe(300)
  })

  test('after a ban, all calls reject, and only one request was sent', async () => {
    const banned = JSON.stringify({ code: 'api_key_banned', message: 'Banned.', status: 429 })
    const refuse = () => new Response(banned, { status: 429, headers: { 'retry-after': '300' } })
    const { client, clock, seen } = await start({ change: (response, i) => (i === 0 ? refuse() : response) })
    const results = await Promise.allSettled(times(100).map(() => client.listPets()))
    const error = { code: 'api_key_banned', status: 429, retryAfter: 300 }
    for (const result of results) expect(result).toMatchObject({ status: 'rejected', reason: error })
    clock.advance(20_000)
    await expect(client.listPets()).rejects.toMatchObject({ ...error, retryAfter: 280 })
    expect(seen.bodies.length).toBe(1)
    clock.advance(40_000)
    expect((await client.listPets()).pets).toEqual([])
  })

  test('with the limit of the day used up, calls reject after one refusal', async () => {
    const { client, refusals, clock } = await start({ limits: { perMinute: 100, perDay: 10 } })
    const results = await Promise.allSettled(times(30).map(() => client.listPets()))
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(10)
    expect([refusals(), clock.now()]).toEqual([1, START])
  })

  test('with retry: false, calls do not wait', async () => {
    const { newClient, refusals, clock } = await start()
    const client = newClient({ retry: false })
    const results = await Promise.allSettled(times(200).map(() => client.listPets()))
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(60)
    expect([refusals(), clock.now()]).toEqual([1, START])
  })

  test('responses without rate-limit headers do not lock the gate', async () => {
    const { client, seen } = await start({ change: (response) => new Response(response.body) })
    await Promise.all(times(50).map(() => client.listPets()))
    expect(seen.mostInFlight).toBeGreaterThan(10)
  })

  test('headers that are not numbers do not lock the gate', async () => {
    const headers = { 'x-ratelimit-limit': '60, 60', 'x-ratelimit-remaining': 'many', 'x-ratelimit-reset': '-1' }
    const { client } = await start({ change: (response) => new Response(response.body, { headers }) })
    await Promise.all(times(50).map(() => client.listPets()))
    expect(client.rateLimit).toBeUndefined()
  })

  test('network faults do not lock the gate', async () => {
    const change = () => {
      throw new TypeError('fetch failed')
    }
    const { newClient, seen } = await start({ change })
    const client = newClient({ retry: false })
    const results = await Promise.allSettled(times(50).map(() => client.listPets()))
    expect(results.filter(({ status }) => status === 'rejected').length).toBe(50)
    expect(seen.mostInFlight).toBe(16)
  })

  test('an aborted call leaves the queue at once, and the others go on', async () => {
    const { newClient, petStore } = await start()
    const answers: (() => void)[] = []
    const fetch = async (url: string, init: RequestInit) => {
      await new Promise<void>((resolve) => answers.push(resolve))
      return petStore.fetch(new Request(url, init))
    }
    const client = newClient({ fetch })
    const controller = new AbortController()
    const first = client.listPets()
    const second = client.listPets({ signal: controller.signal })
    const third = client.listPets()
    controller.abort('enough')
    await expect(second).rejects.toBe('enough')
    expect(answers.length).toBe(1)
    answers[0]?.()
    await first
    expect(answers.length).toBe(2)
    answers[1]?.()
    await third
  })

  test('an aborted request gives its place to the next call', async () => {
    const { newClient, petStore } = await start()
    const controller = new AbortController()
    const fetch = (url: string, init: RequestInit) =>
      controller.signal.aborted ? petStore.fetch(new Request(url, init)) : new Promise<Response>(() => {})
    const client = newClient({ fetch })
    const first = client.listPets({ signal: controller.signal })
    const second = client.listPets()
    controller.abort('enough')
    await expect(first).rejects.toBe('enough')
    expect((await second).pets).toEqual([])
  })
})

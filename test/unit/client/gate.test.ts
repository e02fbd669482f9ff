import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import type { PetStoreClientOptions, UpcomingRetry } from '../../../src/client/index.ts'
import type { PetStoreError } from '../../../src/index.ts'
import { MINUTE, simulate, times, unreachable } from './simulated-network.ts'

afterEach(() => void vi.useRealTimers())

/** Random whole numbers from 1 to `max`: latencies in milliseconds, or parts of a thousand. */
const stream = (max: number) => fc.infiniteStream(fc.integer({ min: 1, max }))
const takeFrom = (values: Iterator<number>) => () => values.next().value as number

const REX = { name: 'Rex', categoryId: 7n }

function refused(seconds: number | string, code = 'rate_limit_exceeded'): Response {
  const body = JSON.stringify({ code, message: 'Refused.', status: 429 })
  return new Response(body, { status: 429, headers: { 'Retry-After': String(seconds) } })
}

function served(headers: Record<string, string> = {}): Response {
  return new Response('[]', { headers })
}

function late<T>(milliseconds: number, value: T): Promise<T> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds, value))
}

describe('a client whose key nobody else uses', () => {
  test('adds 200 animals on a free key without a refusal', async () => {
    const { newClient, rejections, refusals, elapsed, storage } = simulate()
    const client = newClient()
    expect(await rejections(times(200).map(() => client.createPet(REX)))).toEqual([])
    expect(refusals()).toBe(0)
    expect(elapsed()).toBeLessThan(4 * MINUTE)
    expect((await storage.list({ limit: 1_000 })).length).toBe(200)
  })

  test('gets no 429 with any limit and latency, and keeps the order of its calls', async () => {
    const law = fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 80 }),
      // At most 999 ms each way: after two seconds without a response, the client sends the next request.
      stream(999),
      async (perMinute, count, latencies) => {
        const limits = { perMinute, perDay: 1_000_000 }
        const { newClient, rejections, seen, refusals } = simulate({ limits, latency: takeFrom(latencies) })
        const client = newClient()
        expect(await rejections(times(count).map((i) => client.getPet(BigInt(i)).catch(() => {})))).toEqual([])
        expect(refusals()).toBe(0)
        expect(seen.paths.map((path) => Number(path.split('/').at(-1)))).toEqual(times(count))
      },
    )
    await fc.assert(law, { numRuns: 25 })
  })

  test('has at most a sixteenth of the remaining requests in flight, and at most eight', async () => {
    const { newClient, rejections, seen } = simulate({ limits: { perMinute: 200, perDay: 1_000_000 } })
    const client = newClient()
    const most: number[] = []
    const calls = times(195).map(async () => {
      await client.listPets()
      most.push(seen.inFlight - Math.max(1, Math.ceil((client.rateLimit.remaining ?? 0) / 16)))
    })
    expect(await rejections(calls)).toEqual([])
    expect(seen.mostInFlight).toBe(8)
    expect(Math.max(...most)).toBeLessThanOrEqual(0)
  })

  test('has eight requests in flight at a server without a rate limit', async () => {
    const { newClient, rejections, seen } = simulate({ instead: () => served() })
    const client = newClient()
    expect(await rejections(times(50).map(() => client.listPets()))).toEqual([])
    expect(seen.mostInFlight).toBe(8)
  })

  test('counts the limit of error responses too', async () => {
    const { newClient, rejections, refusals } = simulate()
    const client = newClient()
    const errors = await rejections(times(130).map(() => client.getPet(1n)))
    expect(new Set(errors.map((error) => (error as PetStoreError).code))).toEqual(new Set(['pet_not_found']))
    expect(refusals()).toBe(0)
  })
})

describe('clients with one free key', () => {
  test('ten get no ban, and all calls succeed', async () => {
    const law = fc.asyncProperty(stream(300), stream(1_000), fc.nat(MINUTE), async (latencies, parts, offset) => {
      const part = takeFrom(parts)
      const random = () => part() / 1_000
      const { newClient, rejections, isBanned, seen } = simulate({ latency: takeFrom(latencies), random, offset })
      const clients = times(10).map(() => newClient())
      const calls = clients.flatMap((client) => times(12).map(() => client.listPets()))
      expect(await rejections(calls)).toEqual([])
      expect(isBanned()).toBe(false)
      expect(seen.mostInFlight).toBeLessThanOrEqual(40)
    })
    await fc.assert(law, { numRuns: 10 })
  })

  test('ten far ones get no ban either', async () => {
    const law = fc.asyncProperty(stream(2_000), fc.nat(MINUTE), async (latencies, offset) => {
      const { newClient, rejections, isBanned } = simulate({ latency: takeFrom(latencies), offset })
      const clients = times(10).map(() => newClient())
      await rejections(clients.flatMap((client) => times(12).map(() => client.listPets())))
      expect(isBanned()).toBe(false)
    })
    await fc.assert(law, { numRuns: 3 })
  })

  test('twenty all succeed, because a refusal with a short wait starts their time anew', async () => {
    const law = fc.asyncProperty(stream(300), stream(1_000), fc.nat(MINUTE), async (latencies, parts, offset) => {
      const part = takeFrom(parts)
      const random = () => part() / 1_000
      const { newClient, rejections, isBanned } = simulate({ latency: takeFrom(latencies), random, offset })
      const clients = times(20).map(() => newClient())
      const calls = clients.flatMap((client) => times(12).map(() => client.listPets()))
      expect(await rejections(calls)).toEqual([])
      expect(isBanned()).toBe(false)
    })
    await fc.assert(law, { numRuns: 3 })
  })
})

describe('a server that cannot be reached', () => {
  test('gets few requests in 20 seconds, and all calls succeed after them', async () => {
    const law = fc.asyncProperty(stream(300), async (latencies) => {
      const retries: UpcomingRetry[] = []
      const { newClient, rejections, seen, elapsed } = simulate({
        limits: { perMinute: 1_000, perDay: 10_000 },
        latency: takeFrom(latencies),
        instead: (_, time) => (time < 20_000 ? unreachable() : undefined),
      })
      const client = newClient({ onRetry: (_, retry) => retries.push(retry) })
      expect(await rejections(times(90).map(() => client.createPet(REX)))).toEqual([])
      expect(retries.map(({ attempt }) => attempt)).toEqual(times(retries.length).map((i) => i + 1))
      expect(retries.length).toBeLessThanOrEqual(8)
      expect(seen.paths.length).toBe(90 + retries.length)
      expect(elapsed()).toBeLessThan(40_000)
    })
    await fc.assert(law, { numRuns: 10 })
  })

  test('gets at most 30 requests until all calls reject after maxElapsed', async () => {
    const { newClient, rejections, elapsed, seen } = simulate({ instead: unreachable })
    const client = newClient()
    const reasons = await rejections(times(90).map(() => client.listPets()))
    expect(reasons.length).toBe(90)
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'network_error', status: 0 })
    expect(String(reasons[50])).toContain('no response arrived: ECONNREFUSED. The call gave up after retry.maxElapsed.')
    expect(elapsed()).toBeGreaterThan(2 * MINUTE - 11_000)
    expect(elapsed()).toBeLessThanOrEqual(2 * MINUTE)
    expect(seen.paths.length).toBeLessThanOrEqual(30)
  })

  test('counts requests that fail together as one failure', async () => {
    const attempts: number[] = []
    const { newClient, rejections } = simulate({
      instead: (number) => (number > 1 && number < 10 ? unreachable() : served()),
    })
    const client = newClient({ onRetry: (_, { attempt }) => attempts.push(attempt) })
    expect(await rejections(times(20).map(() => client.listPets()))).toEqual([])
    expect(attempts).toEqual([1])
  })
})

describe('maxElapsed', () => {
  test('starts anew with each 429 whose Retry-After is not longer', async () => {
    const { newClient, rejections, elapsed } = simulate({
      instead: (number) => (number <= 5 ? refused(100) : served()),
    })
    expect(await rejections([newClient().listPets()])).toEqual([])
    expect(elapsed()).toBeGreaterThan(5 * 100_000)
  })

  test('starts anew with each success of another call', async () => {
    const { newClient, rejections, elapsed } = simulate({ limits: { perMinute: 1, perDay: 1_000 } })
    const client = newClient()
    expect(await rejections(times(6).map(() => client.listPets()))).toEqual([])
    expect(elapsed()).toBeGreaterThan(4 * MINUTE)
  })

  test('does not start anew for a call that has failed in another way', async () => {
    const { newClient, rejections, elapsed } = simulate({
      instead: (number) => (number === 1 ? unreachable() : refused(50)),
    })
    expect(await rejections([newClient().listPets()])).toMatchObject([{ code: 'rate_limit_exceeded' }])
    expect(elapsed()).toBeLessThanOrEqual(2 * MINUTE)
  })

  test('does not start anew with a 429 without a readable Retry-After', async () => {
    const { newClient, rejections, elapsed } = simulate({ instead: () => refused('soon') })
    expect(await rejections([newClient().listPets()])).toMatchObject([{ code: 'rate_limit_exceeded' }])
    expect(elapsed()).toBeLessThanOrEqual(2 * MINUTE)
  })

  test.each([-86_400_000, 86_400_000])('does not depend on a clock that steps by %i ms', async (step) => {
    const { newClient, rejections } = simulate({
      instead(number) {
        if (number === 3) vi.setSystemTime(Date.now() + step)
        return unreachable()
      },
    })
    const before = performance.now()
    const call = newClient({ retry: { maxElapsed: 2_000 } }).listPets()
    expect(await rejections([call])).toMatchObject([{ code: 'network_error' }])
    expect(performance.now() - before).toBeGreaterThan(1_000)
    expect(performance.now() - before).toBeLessThanOrEqual(2_000)
  })

  test('ends under fake timers that do not replace performance', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const client = createClient({ baseUrl: 'https://api.example/v1', apiKey: 'pet_abc', fetch: unreachable })
    const rejected = expect(client.listPets()).rejects.toMatchObject({ code: 'network_error' })
    await vi.advanceTimersByTimeAsync(2 * MINUTE)
    await rejected
  })
})

describe('a pause', () => {
  test('ends with one request, and the others follow after its response', async () => {
    const { newClient, rejections, seen } = simulate({
      instead: (number) => (number === 1 ? refused(5) : late(number === 2 ? 1_000 : 0, served())),
    })
    const client = newClient()
    const calls = times(20).map(() => client.listPets())
    await vi.advanceTimersByTimeAsync(5_900)
    expect(seen.paths.length).toBe(2)
    expect(await rejections(calls)).toEqual([])
    expect(seen.mostInFlight).toBe(8)
  })

  test('becomes longer if a request that was sent before it asks for more', async () => {
    const { newClient, rejections, elapsed } = simulate({
      instead: (number) => [served(), refused(2), late(500, refused(30))][number - 1] ?? served(),
    })
    const client = newClient()
    await rejections([client.listPets()])
    expect(await rejections(times(2).map(() => client.listPets()))).toEqual([])
    expect(elapsed()).toBeGreaterThan(30_000)
  })

  test('is reported once, with attempt 0 if no requests remain', async () => {
    const onRetry = vi.fn<NonNullable<PetStoreClientOptions['onRetry']>>()
    const { newClient, rejections } = simulate({ offset: 30_000 })
    const client = newClient({ onRetry })
    expect(await rejections(times(80).map(() => client.listPets()))).toEqual([])
    expect(onRetry.mock.calls).toMatchObject([[{ code: 'rate_limit_exceeded' }, { attempt: 0 }]])
    const delay = onRetry.mock.calls[0]?.[1].delay
    expect(delay).toBeGreaterThan(20_000)
    expect(delay).toBeLessThanOrEqual(30_500)
  })

  test('begins no longer than two seconds after a first request that hangs', async () => {
    const { newClient, rejections, elapsed } = simulate({
      instead: (number) => (number === 1 ? new Promise(() => {}) : served()),
    })
    const client = newClient()
    const first = client.listPets()
    expect(await rejections(times(50).map(() => client.listPets()))).toEqual([])
    expect(elapsed()).toBeLessThan(3_000)
    expect(await rejections([first])).toEqual([])
  })
})

describe('one wrong response', () => {
  test('whose X-RateLimit-Reset is two days ahead delays no call', async () => {
    const wrong = () => {
      const reset = Math.ceil(Date.now() / 1_000) + 2 * 86_400
      return served({ 'X-RateLimit-Limit': '60', 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(reset) })
    }
    const law = fc.asyncProperty(fc.integer({ min: 1, max: 40 }), stream(500), async (position, latencies) => {
      const { newClient, rejections, elapsed } = simulate({
        latency: takeFrom(latencies),
        instead: (number) => (number === position ? wrong() : undefined),
      })
      const client = newClient()
      expect(await rejections(times(50).map(() => client.listPets()))).toEqual([])
      expect(elapsed()).toBeLessThan(MINUTE)
    })
    await fc.assert(law, { numRuns: 10 })
  })

  test('with a Retry-After of two days rejects waiting calls, and later ones for maxElapsed', async () => {
    const { newClient, rejections, seen } = simulate({
      instead: (number) => (number === 1 ? refused(172_800, 'api_key_banned') : undefined),
    })
    const client = newClient()
    const reasons = await rejections(times(50).map(() => client.listPets()))
    expect([reasons.length, seen.paths.length]).toEqual([50, 1])
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'api_key_banned', retryAfterSeconds: 172_800 })
    const message =
      'Refused. The server asked to wait until 2026-01-03T00:00:00.040Z, which is longer than retry.maxElapsed.'
    expect(reasons[9]).toMatchObject({ message })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(await rejections([client.listPets()])).toMatchObject([{ retryAfterSeconds: 172_780 }])
    await vi.advanceTimersByTimeAsync(2 * MINUTE - 20_000)
    expect(await rejections([client.listPets()])).toEqual([])
  })
})

describe('many calls with one signal', () => {
  test('add one listener to it, and remove it', async () => {
    const { newClient, rejections } = simulate({ instead: () => served() })
    const client = newClient()
    const { signal } = new AbortController()
    const calls = times(50).map(() => client.listPets({ signal }))
    expect(getEventListeners(signal, 'abort').length).toBe(1)
    expect(await rejections(calls)).toEqual([])
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('are all aborted by it, and no other call is', async () => {
    const { newClient, rejections } = simulate()
    const client = newClient()
    const controller = new AbortController()
    const aborted = times(50).map(() => client.listPets({ signal: controller.signal }))
    const other = client.listPets()
    controller.abort('enough')
    expect(await rejections(aborted)).toEqual(times(50).map(() => 'enough'))
    expect(await rejections([other])).toEqual([])
    expect(await rejections([client.listPets({ signal: controller.signal })])).toEqual(['enough'])
  })
})

describe('an aborted call', () => {
  test('rejects immediately while it waits for its turn, and the other calls continue', async () => {
    const { newClient, rejections, seen } = simulate()
    const client = newClient()
    const controller = new AbortController()
    const calls = times(20).map((i) => client.listPets(i === 15 ? { signal: controller.signal } : {}))
    controller.abort('enough')
    await expect(calls[15]).rejects.toBe('enough')
    expect(await rejections(calls)).toEqual(['enough'])
    expect(seen.paths.length).toBe(19)
  })

  test('lets the next waiting call be sent if its request was the first', async () => {
    const controller = new AbortController()
    const { newClient, rejections } = simulate({
      instead: () => (controller.signal.aborted ? undefined : new Promise(() => {})),
    })
    const client = newClient()
    const first = client.listPets({ signal: controller.signal })
    const second = client.listPets()
    await vi.advanceTimersByTimeAsync(100)
    controller.abort('enough')
    await expect(first).rejects.toBe('enough')
    expect(await rejections([second])).toEqual([])
  })

  test('leaves no timer while it waits for the end of a pause', async () => {
    const { newClient } = simulate({ instead: unreachable })
    const controller = new AbortController()
    const call = newClient().listPets({ signal: controller.signal })
    await vi.advanceTimersByTimeAsync(100)
    expect(vi.getTimerCount()).toBe(1)
    controller.abort('enough')
    await expect(call).rejects.toBe('enough')
    expect(vi.getTimerCount()).toBe(0)
  })

  test('rejects while onRetry never ends', async () => {
    const { newClient } = simulate({ instead: unreachable })
    const controller = new AbortController()
    const client = newClient({ onRetry: () => new Promise<never>(() => {}) as never })
    const call = client.listPets({ signal: controller.signal })
    await vi.advanceTimersByTimeAsync(100)
    controller.abort('enough')
    await expect(call).rejects.toBe('enough')
  })
})

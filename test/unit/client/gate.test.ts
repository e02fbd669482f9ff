import { getEventListeners } from 'node:events'
import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClient } from '../../../src/client/client.ts'
import type { UpcomingRetry } from '../../../src/client/options.ts'
import { FREE, MINUTE, rejections, START, simulate } from './simulated-server.ts'

afterEach(() => void vi.useRealTimers())

const times = (count: number) => Array.from({ length: count }, (_, i) => i)
const unreachable = () => {
  throw new TypeError('fetch failed', { cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }) })
}
/** Random whole numbers from 1 to `max`: latencies in milliseconds, or factors for back-off. */
const stream = (max: number) => fc.infiniteStream(fc.integer({ min: 1, max }))
const takeFrom = (values: Iterator<number>) => () => values.next().value as number

describe('a client whose key nobody else uses', () => {
  test('the client gets no 429, keeps the order, and uses few windows', async () => {
    const law = fc.asyncProperty(
      fc.integer({ min: 1, max: 60 }),
      fc.integer({ min: 1, max: 150 }),
      // At most 999 ms each way: after two seconds without a response, the gate would send the next request.
      stream(999),
      async (perMinute, count, latencies) => {
        const { newClient, settled, seen, refusals, elapsed } = simulate({
          limits: { ...FREE, perMinute },
          latency: takeFrom(latencies),
        })
        const client = newClient()
        const results = await settled(times(count).map((i) => client.listPets({ cursor: String(i) })))
        expect({ rejections: rejections(results), refusals: refusals() }).toEqual({ rejections: [], refusals: 0 })
        expect(elapsed()).toBeLessThan(Math.ceil(count / perMinute) * MINUTE)
        expect(seen.paths.map((path) => Number(/cursor=(\d+)/.exec(path)?.[1]))).toEqual(times(count))
      },
    )
    await fc.assert(law, { numRuns: 60 })
  })
})

describe('five clients with one free key', () => {
  /** The stream of a random source that always returns the same number. */
  const always = (value: number) =>
    fc.stream(
      (function* () {
        for (;;) yield value
      })(),
    )
  /** The last client is 1.5 seconds away from the server, so the others use up each window before its request arrives. */
  const farClient = [20, 20, 20, 20, 1_500]

  test('the clients get no ban, and reject only calls that would wait too long', async () => {
    const law = fc.asyncProperty(
      fc.array(fc.integer({ min: 1, max: 1_500 }), { minLength: 5, maxLength: 5 }),
      stream(1_000),
      stream(1_000),
      fc.nat(MINUTE),
      fc.constantFrom(2 * MINUTE, 10 * MINUTE),
      async (longest, fractions, factors, offset, maxElapsed) => {
        const fraction = takeFrom(fractions)
        const factor = takeFrom(factors)
        const { newClient, settled, isBanned, seen, elapsed } = simulate({
          latency: (client) => Math.ceil(((longest[client] ?? 0) * fraction()) / 1_000),
          random: () => factor() / 1_000,
          offset,
        })
        /** The calls that rejected although the server asked to wait no longer than `maxElapsed`. */
        const early = new Set<string>()
        function callOften() {
          const client = newClient({ retry: { maxElapsed } })
          let servedAt = 0
          return times(40).map(async () => {
            try {
              await client.listPets()
              servedAt = elapsed()
            } catch (error) {
              const [, until = ''] = /asked to wait until (\S+), which/.exec(String(error)) ?? []
              const mayRetryAt = Date.parse(until) - START - offset
              if (!(mayRetryAt > servedAt + maxElapsed))
                early.add(`${error} Served at ${servedAt}, rejected at ${elapsed()}, may retry at ${mayRetryAt}.`)
              throw error
            }
          })
        }
        const rejected = rejections(await settled(times(5).flatMap(callOften)))
        expect({ early: [...early], isBanned: isBanned() }).toEqual({ early: [], isBanned: false })
        expect(seen.mostInFlight).toBeLessThanOrEqual(40)
        // The 200 requests fit into five windows.
        if (maxElapsed > 5 * MINUTE) expect(rejected).toEqual([])
      },
    )
    await fc.assert(law, {
      numRuns: 30,
      examples: [
        // The far client gets its second 429 after a minute, and the window ends after `maxElapsed`.
        [farClient, always(1_000), always(1_000), 0, 2 * MINUTE],
        // The window ends half a second before `maxElapsed`, and the random time would end after it.
        [farClient, always(1_000), always(1_000), 2_000, 2 * MINUTE],
      ],
    })
  })
})

describe('a server that cannot be reached', () => {
  test('90 calls succeed although the server is unreachable for 12 seconds, at any latency', async () => {
    const law = fc.asyncProperty(stream(300), stream(1_000), fc.nat(2_000), async (latencies, factors, start) => {
      const factor = takeFrom(factors)
      const { newClient, settled, seen, elapsed } = simulate({
        limits: { perMinute: 1_000, perDay: 10_000 },
        latency: takeFrom(latencies),
        random: () => factor() / 1_000,
        instead: (_, time) => (time >= start && time < start + 12_000 ? unreachable() : undefined),
      })
      const retries: UpcomingRetry[] = []
      const client = newClient({ onRetry: (retry) => retries.push(retry) })
      const results = await settled(times(90).map(() => client.listPets()))
      expect(rejections(results)).toEqual([])
      // Some of the first eight requests may succeed, and each success sets `attempt` back to 1.
      const attempts = retries.map(({ attempt }) => attempt)
      const last = attempts.slice(attempts.lastIndexOf(1))
      expect(last).toEqual(times(last.length).map((i) => i + 1))
      expect(attempts.filter((attempt) => attempt === 1).length).toBeLessThanOrEqual(8)
      // 90 requests succeed. The eight in flight may fail together, at most twice. After each wait, one request may fail, too.
      expect(seen.paths.length).toBeLessThanOrEqual(90 + 2 * 8 + retries.length)
      expect(elapsed()).toBeLessThan(MINUTE)
    })
    await fc.assert(law, { numRuns: 40 })
  })

  test('all calls reject after maxElapsed, with the cause in the message', async () => {
    const { newClient, settled, elapsed, seen } = simulate({ instead: unreachable, random: () => 0.5 })
    const client = newClient()
    const reasons = rejections(await settled(times(90).map(() => client.listPets())))
    expect(reasons.length).toBe(90)
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'network_error', status: 0 })
    expect(String(reasons[50])).toContain('fetch failed: ECONNREFUSED. The call gave up after retry.maxElapsed.')
    expect(elapsed()).toBeGreaterThan(2 * MINUTE - 11_000)
    expect(elapsed()).toBeLessThanOrEqual(2 * MINUTE)
    expect(seen.paths.length).toBeLessThan(60)
  })
})

describe('one hostile or wrong response', () => {
  const limited = (remaining: number, resetsIn: number) =>
    new Response('[]', {
      headers: {
        'X-RateLimit-Limit': '60',
        'X-RateLimit-Remaining': String(remaining),
        'X-RateLimit-Reset': String(Math.ceil((Date.now() + resetsIn) / 1000)),
      },
    })
  const banned = (seconds: number) =>
    new Response('{"code":"api_key_banned","message":"Banned."}', {
      status: 429,
      headers: { 'Retry-After': String(seconds) },
    })

  test('one response whose X-RateLimit-Reset is two days ahead delays no call', async () => {
    const law = fc.asyncProperty(fc.integer({ min: 1, max: 40 }), stream(500), async (wrong, latencies) => {
      const { newClient, settled, elapsed } = simulate({
        latency: takeFrom(latencies),
        instead: (number) => (number === wrong ? limited(0, 2 * 86_400_000) : undefined),
      })
      const client = newClient()
      expect(rejections(await settled(times(50).map(() => client.listPets())))).toEqual([])
      expect(elapsed()).toBeLessThan(MINUTE)
    })
    await fc.assert(law, { numRuns: 30 })
  })

  test('a 429 with a Retry-After of two days rejects the waiting calls', async () => {
    const { newClient, settled, seen } = simulate({ instead: (number) => (number === 1 ? banned(172_800) : undefined) })
    const client = newClient()
    const reasons = rejections(await settled(times(50).map(() => client.listPets())))
    expect([reasons.length, seen.paths.length]).toEqual([50, 1])
    for (const reason of reasons) expect(reason).toMatchObject({ code: 'api_key_banned', retryAfter: 172_800 })
    const message =
      'Banned. The server asked to wait until 2026-01-03T00:00:00.040Z, which is longer than retry.maxElapsed.'
    expect(reasons[9]).toMatchObject({ message })
    await vi.advanceTimersByTimeAsync(20_000)
    expect(rejections(await settled([client.listPets()]))).toMatchObject([{ retryAfter: 172_780 }])
    await vi.advanceTimersByTimeAsync(2 * MINUTE - 20_000)
    expect(rejections(await settled([client.listPets()]))).toEqual([])
  })

  test('a later success ends a wait for a Retry-After of two days', async () => {
    const { newClient, settled } = simulate({
      latency: () => 10,
      instead: (number) => (number === 2 ? banned(172_800) : undefined),
    })
    const client = newClient()
    await settled([client.listPets()])
    const results = await settled(times(8).map(() => client.listPets()))
    expect(rejections(results).length).toBe(1)
    expect(rejections(await settled(times(20).map(() => client.listPets())))).toEqual([])
  })

  test('if the first response is late, the other calls are sent after two seconds', async () => {
    const { newClient, settled, elapsed } = simulate({
      instead: (number) => (number === 1 ? new Promise(() => {}) : undefined),
    })
    const client = newClient()
    const first = client.listPets()
    expect(rejections(await settled(times(50).map(() => client.listPets())))).toEqual([])
    expect(elapsed()).toBeLessThan(3_000)
    expect(rejections(await settled([first]))).toEqual([])
  })
})

describe('a slow response beside a newer one', () => {
  const refused = (seconds: number) =>
    new Response('{"code":"rate_limit_exceeded","message":"Refused."}', {
      status: 429,
      headers: { 'Retry-After': String(seconds) },
    })
  const late = (milliseconds: number, response: Response) =>
    new Promise<Response>((resolve) => setTimeout(resolve, milliseconds, response))

  test('the wait becomes shorter for a call whose time ends first', async () => {
    const arrivals: number[] = []
    const { newClient, settled } = simulate({
      latency: () => 10,
      random: () => 1,
      instead(number, elapsed) {
        arrivals.push(elapsed)
        return [late(6_000, refused(1)), refused(3)][number - 1]
      },
    })
    const client = newClient({ retry: { maxElapsed: 10_000, baseDelay: 10_000 } })
    const slow = client.listPets()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(rejections(await settled([slow, client.listPets()]))).toEqual([])
    expect(arrivals).toEqual([10, 5_010, 10_010, 10_030])
  })

  test('a call whose time has ended rejects without the time in Retry-After, which has ended too', async () => {
    const { newClient, settled } = simulate({
      latency: () => 10,
      random: () => 1,
      instead: (number) => [late(9_000, refused(1)), refused(1)][number - 1],
    })
    const client = newClient({ retry: { maxElapsed: 8_000, baseDelay: 10_000 } })
    const slow = client.listPets()
    await vi.advanceTimersByTimeAsync(7_500)
    const newer = client.listPets()
    const [reason] = rejections(await settled([slow]))
    expect(reason).toMatchObject({
      code: 'rate_limit_exceeded',
      message: 'Refused. The call gave up after retry.maxElapsed.',
    })
    expect(reason).not.toHaveProperty('retryAfter')
    expect(rejections(await settled([newer]))).toEqual([])
  })

  test('a success that arrives after a newer refusal restarts the time of waiting calls', async () => {
    const { newClient, settled, elapsed } = simulate({
      latency: () => 10,
      random: () => 0,
      instead: (number) => [undefined, late(5_000, new Response('[]')), refused(1), refused(5), refused(7)][number - 1],
    })
    const client = newClient({ retry: { maxElapsed: 10_000 } })
    expect(rejections(await settled(times(3).map(() => client.listPets())))).toEqual([])
    expect(elapsed()).toBeGreaterThan(14_000)
  })
})

describe('a clock that steps', () => {
  test.each([-86_400_000, 86_400_000])('a step of %i ms does not change when a call gives up', async (step) => {
    const { newClient, settled, elapsed } = simulate({
      instead(number) {
        if (number === 3) vi.setSystemTime(Date.now() + step)
        return unreachable()
      },
      random: () => 0.5,
    })
    const before = performance.now()
    const reasons = rejections(await settled([newClient({ retry: { maxElapsed: 2_000 } }).listPets()]))
    expect(reasons).toMatchObject([{ code: 'network_error' }])
    expect(elapsed()).toBeLessThanOrEqual(step + 2_000)
    expect(performance.now() - before).toBeGreaterThan(1_000)
    expect(performance.now() - before).toBeLessThanOrEqual(2_000)
  })

  test('a call gives up under fake timers that do not replace performance', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] })
    const client = createClient({ baseUrl: 'https://api.example/v1', apiKey: 'pet_abc', fetch: unreachable })
    const rejected = expect(client.listPets()).rejects.toMatchObject({ code: 'network_error' })
    await vi.advanceTimersByTimeAsync(2 * MINUTE)
    await rejected
  })
})

describe('many calls at once', () => {
  /** Makes calls with one signal, and returns the CPU time that they take, in microseconds. */
  async function cpuTimeOf(count: number, listeners = new Set<unknown>()): Promise<number> {
    const fetch = async () => new Response('[]')
    const client = createClient({ baseUrl: 'https://api.example/v1', apiKey: 'pet_abc', fetch })
    const { signal } = new AbortController()
    const before = process.cpuUsage()
    const calls = times(count).map(() => client.listPets({ signal }))
    for (const listener of getEventListeners(signal, 'abort')) listeners.add(listener)
    await Promise.all(calls)
    const { user, system } = process.cpuUsage(before)
    expect(getEventListeners(signal, 'abort')).toEqual([])
    return user + system
  }

  test('the CPU time grows as the number of calls, not as its square', async () => {
    // The least of three measurements: garbage collection and other processes only add to a time.
    const least = async (count: number) =>
      Math.min(await cpuTimeOf(count), await cpuTimeOf(count), await cpuTimeOf(count))
    // With a time that grows linearly, the ratio is at most 4; with quadratic time, it is about 16.
    expect((await least(8_000)) / (await least(2_000))).toBeLessThan(8)
  })

  test('all calls with one signal add one listener to it', async () => {
    const listeners = new Set()
    await cpuTimeOf(50, listeners)
    expect(listeners.size).toBe(1)
  })

  test('one signal aborts all of its calls and no other call', async () => {
    const { newClient, settled } = simulate()
    const client = newClient()
    const controller = new AbortController()
    const aborted = times(50).map(() => client.listPets({ signal: controller.signal }))
    const other = client.listPets()
    controller.abort('enough')
    expect(rejections(await settled(aborted))).toEqual(times(50).map(() => 'enough'))
    expect(rejections(await settled([other]))).toEqual([])
    expect(rejections(await settled([client.listPets({ signal: controller.signal })]))).toEqual(['enough'])
  })
})

describe('an aborted signal', () => {
  test('an aborted call rejects immediately, and the other calls continue', async () => {
    const { newClient, settled, seen } = simulate()
    const client = newClient()
    const controller = new AbortController()
    const first = client.listPets()
    const second = client.listPets({ signal: controller.signal })
    const third = client.listPets()
    controller.abort('enough')
    await expect(second).rejects.toBe('enough')
    expect(rejections(await settled([first, third]))).toEqual([])
    expect(seen.paths.length).toBe(2)
  })

  test('after a request is aborted, the next waiting call is sent', async () => {
    const controller = new AbortController()
    const { newClient, settled } = simulate({
      instead: () => (controller.signal.aborted ? undefined : new Promise(() => {})),
    })
    const client = newClient()
    const first = client.listPets({ signal: controller.signal })
    const second = client.listPets()
    await vi.advanceTimersByTimeAsync(100)
    controller.abort('enough')
    await expect(first).rejects.toBe('enough')
    expect(rejections(await settled([second]))).toEqual([])
  })

  test('after the only waiting call aborts, no timer is left', async () => {
    const { newClient } = simulate({ instead: unreachable, random: () => 1 })
    const controller = new AbortController()
    const call = newClient().listPets({ signal: controller.signal })
    await vi.advanceTimersByTimeAsync(100)
    expect(vi.getTimerCount()).toBe(1)
    controller.abort('enough')
    await expect(call).rejects.toBe('enough')
    expect(vi.getTimerCount()).toBe(0)
  })
})

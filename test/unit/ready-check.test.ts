import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type BackEnd, createPetStore, type MaybePromise, memory, readyCheck } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'

afterEach(() => void vi.useRealTimers())

const quiet = { onFailure: () => {} }

describe('readyCheck', () => {
  test('readyCheck returns the names of the parts that fail', async () => {
    const onFailure = vi.fn()
    const backEnd = memory()
    const [late, away] = [new Error('late'), new Error('away')]
    const list = () => Promise.reject(late)
    const spend = () => {
      throw away
    }
    const check = readyCheck({ ...backEnd, storage: { ...backEnd.storage, list }, quota: { spend } }, { onFailure })
    expect(await check()).toEqual(['storage', 'quota'])
    expect(onFailure.mock.calls).toEqual([
      ['quota', away],
      ['storage', late],
    ])
  })

  test('readyCheck returns the name of a part that responds too late', async () => {
    const find = () => new Promise<never>(() => {})
    const backEnd = memory()
    const check = readyCheck({ ...backEnd, keyStore: { find } }, { ...quiet, timeout: 1 })
    expect(await check()).toEqual(['keys'])
  })

  test('readyCheck reuses a result for one second', async () => {
    const backEnd = memory()
    let [now, calls] = [1_000, 0]
    const list = () => {
      calls += 1
      return []
    }
    const check = readyCheck(
      { ...backEnd, storage: { ...backEnd.storage, list } },
      { ...quiet, clock: { now: () => now } },
    )
    await Promise.all([check(), check()])
    await check()
    expect(calls).toBe(1)
    now += 1_000
    await check()
    expect(calls).toBe(2)
  })

  test.each([
    [
      'a thrown error',
      () => {
        throw new Error('broken')
      },
    ],
    ['a rejected promise', () => Promise.reject(new Error('broken'))],
  ])('readyCheck returns its result even if onFailure fails with %s', async (_, onFailure) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const find = () => Promise.reject(new Error('away'))
    expect(await readyCheck({ ...memory(), keyStore: { find } }, { onFailure })()).toEqual(['keys'])
    expect(log.mock.calls).toEqual([
      [expect.stringContaining('not ready: keys: Error: away')],
      [expect.stringContaining('onFailure failed: Error: broken')],
    ])
  })
})

/** Returns a back end. The calls of `parts` share a pool with one connection, and hold it for `milliseconds` of the fake timers. */
function withBusyPool(milliseconds: number, parts: string): BackEnd {
  const { storage, quota } = memory()
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <T>(part: string, call: () => MaybePromise<T>): MaybePromise<T> => {
    if (!parts.includes(part)) return call()
    const turn = last.then(() => new Promise((resolve) => setTimeout(resolve, milliseconds))).then(call)
    last = turn.catch(() => {})
    return turn
  }
  return {
    storage: { ...storage, list: (query) => inTurn('storage', async () => storage.list(query)) },
    keyStore: {
      // The key of the clients is cached, so only unknown tokens need the pool.
      find: (token) => (token === 'desk' ? { id: 'desk', plan: 'busy' } : inTurn('keys', () => undefined)),
    },
    quota: { spend: (request) => inTurn('quota', async () => quota.spend(request)) },
  }
}

describe('a busy pool', () => {
  test.each([
    [40, 'storage, keys, quota', 300],
    [150, 'storage', 150],
  ] as const)(
    '80 clients whose calls take %i ms do not make these parts unready: %s',
    async (milliseconds, parts, least) => {
      vi.useFakeTimers()
      const failures = vi.fn()
      const backEnd = withBusyPool(milliseconds, parts)
      const limits = { perMinute: 1_000_000, perDay: 1_000_000 }
      const petStore = createPetStore({ ...backEnd, plans: { busy: limits }, timeout: 60_000 })
      const checkReady = readyCheck(backEnd, { onFailure: failures })
      expect(await Promise.all([checkReady(), vi.advanceTimersByTimeAsync(1_000)])).toEqual([[], expect.anything()])
      let served = 0
      let isOver = false
      const client = async () => {
        while (!isOver) {
          const { status } = await petStore.fetch('http://x/v1/pets', { headers: { authorization: 'Bearer desk' } })
          expect(status).toBe(200)
          served += 1
        }
      }
      const clients = Promise.all(Array.from({ length: 80 }, client))
      const results: (readonly string[])[] = []
      for (let second = 0; second < 30; second++) {
        void checkReady().then((failing) => results.push(failing))
        await vi.advanceTimersByTimeAsync(1_000)
      }
      isOver = true
      await vi.advanceTimersByTimeAsync(60_000)
      await clients
      expect(served).toBeGreaterThan(least)
      expect(results).toEqual(Array(30).fill([]))
      expect(failures).not.toHaveBeenCalled()
    },
  )

  test('a part is ready for 5 seconds after a call of a request has succeeded, and then its probe decides', async () => {
    const clock = manualClock()
    const backEnd = memory({ clock })
    let isAway = false
    const list = async () => {
      if (isAway) throw new Error('away')
      return []
    }
    const ports = { ...backEnd, storage: { ...backEnd.storage, list } }
    const { token } = await backEnd.keyStore.issue({ plan: 'free' })
    const checkReady = readyCheck(ports, { ...quiet, clock })
    await createPetStore({ ...ports, clock }).fetch('http://x/v1/pets', {
      headers: { authorization: `Bearer ${token}` },
    })
    isAway = true
    clock.advance(4_999)
    expect(await checkReady()).toEqual([])
    clock.advance(1_000)
    expect(await checkReady()).toEqual(['storage'])
  })

  test('the requests of another back end show nothing', async () => {
    const list = async () => []
    const [ours, other] = [memory(), memory()]
    const petStore = createPetStore({ ...other, storage: { ...other.storage, list } })
    const { token } = await other.keyStore.issue({ plan: 'free' })
    await petStore.fetch('http://x/v1/pets', { headers: { authorization: `Bearer ${token}` } })
    const away = { ...ours.storage, list: () => Promise.reject(new Error('away')) }
    expect(await readyCheck({ ...ours, storage: away }, quiet)()).toEqual(['storage'])
  })
})

test('a check whose request has ended does not keep later probes waiting', async () => {
  vi.useFakeTimers()
  const backEnd = memory()
  let isFirst = true
  const list = () => {
    const response = isFirst ? new Promise<never>(() => {}) : Promise.resolve([])
    isFirst = false
    return response
  }
  const checkReady = readyCheck({ ...backEnd, storage: { ...backEnd.storage, list } }, quiet)
  void checkReady()
  // On Workers, the timers of the first check end with its request.
  vi.clearAllTimers()
  vi.advanceTimersByTime(1_000)
  const joined = checkReady()
  await vi.advanceTimersByTimeAsync(3_000)
  expect(await joined).toEqual([])
  expect(await checkReady()).toEqual([])
})

test('a check of any age does not keep later probes waiting', async () => {
  const clock = manualClock()
  const backEnd = memory()
  let calls = 0
  const list = () => (++calls === 1 ? new Promise<never>(() => {}) : Promise.resolve([]))
  const checkReady = readyCheck(
    { ...backEnd, storage: { ...backEnd.storage, list } },
    { ...quiet, clock, timeout: 60_000 },
  )
  void checkReady()
  clock.advance(61_000)
  expect(await checkReady()).toEqual([])
})

test('an outage is reported when it begins and when it ends', async () => {
  const clock = manualClock()
  const backEnd = memory()
  let isAway = true
  const list = async () => (isAway ? Promise.reject(new Error('away')) : [])
  const ports = { ...backEnd, storage: { ...backEnd.storage, list } }
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const [onFailure, onRecovery] = [vi.fn(), vi.fn()]
  const checks = [readyCheck(ports, { clock }), readyCheck(ports, { clock, onFailure, onRecovery })]
  for (let second = 0; second < 20; second++) {
    isAway = second < 10
    for (const checkReady of checks) expect(await checkReady()).toEqual(isAway ? ['storage'] : [])
    clock.advance(1_000)
  }
  expect([onFailure.mock.calls, onRecovery.mock.calls]).toEqual([[['storage', new Error('away')]], [['storage']]])
  expect(log.mock.calls.map(([line]) => String(line).split('\n')[0])).toEqual([
    'petstore-kit: not ready: storage: Error: away',
    'petstore-kit: ready again: storage',
  ])
})

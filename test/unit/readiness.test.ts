import { afterEach, describe, expect, test, vi } from 'vitest'
import { createPetStore, type MaybePromise, memory, PetStoreError, type PetStoreOptions } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'

afterEach(() => void vi.useRealTimers())

/** Starts a store that calls `list` for its storage. Returns what it has reported, too. */
function start(list: () => MaybePromise<never[]>, options: PetStoreOptions = {}) {
  const clock = manualClock()
  const backEnd = memory({ clock })
  const reported: unknown[] = []
  const onError = (error: unknown) => void reported.push(error)
  const { ready } = createPetStore({ ...backEnd, clock, storage: { ...backEnd.storage, list }, onError, ...options })
  return { ready, clock, reported }
}

const away = () => Promise.reject(new Error('away'))
const never = () => new Promise<never>(() => {})

describe('ready()', () => {
  test('says that a store whose parts work is ready', async () => {
    expect(await createPetStore().ready()).toEqual({ ok: true, failing: [] })
  })

  test('names the parts that fail, and onError gets each error', async () => {
    const spend = () => {
      throw new Error('no connection')
    }
    const { ready, reported } = start(away, { quota: { spend } })
    expect(await ready()).toEqual({ ok: false, failing: ['storage', 'quota'] })
    const about = (part: string, cause: string) =>
      expect.objectContaining({
        code: 'service_unavailable',
        message: `The part "${part}" of the back end is not ready.`,
        cause: new Error(cause),
      })
    expect(reported).toHaveLength(2)
    expect(reported).toEqual(expect.arrayContaining([about('storage', 'away'), about('quota', 'no connection')]))
  })

  test('names a part that does not respond within 2 seconds', async () => {
    vi.useFakeTimers()
    const { ready } = start(never)
    const settled = vi.fn()
    const result = ready()
    result.then(settled)
    await vi.advanceTimersByTimeAsync(1_999)
    expect(settled).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(await result).toEqual({ ok: false, failing: ['storage'] })
  })

  test('a shorter option `timeout` is the limit of a probe too', async () => {
    vi.useFakeTimers()
    const result = start(never, { timeout: 100 }).ready()
    await vi.advanceTimersByTimeAsync(100)
    expect(await result).toEqual({ ok: false, failing: ['storage'] })
  })

  test('concurrent callers share the calls, and the result is reused for one second', async () => {
    const list = vi.fn(async () => [])
    const { ready, clock } = start(list)
    await Promise.all([ready(), ready()])
    clock.advance(999)
    await ready()
    expect(list).toHaveBeenCalledTimes(1)
    clock.advance(1)
    await ready()
    expect(list).toHaveBeenCalledTimes(2)
  })

  test('a clock that is set back does not keep an old result', async () => {
    const list = vi.fn(async () => [])
    const { ready, clock } = start(list)
    await ready()
    clock.advance(-3_600_000)
    clock.advance(1_000)
    await ready()
    expect(list).toHaveBeenCalledTimes(2)
  })

  test('an outage is reported once, also if it lasts', async () => {
    let isAway = true
    const { ready, clock, reported } = start(async () => (isAway ? away() : []))
    for (let second = 0; second < 20; second++) {
      isAway = second % 10 < 5
      expect((await ready()).ok).toBe(!isAway)
      clock.advance(1_000)
    }
    expect(reported).toHaveLength(2)
  })

  test('with onQuotaFailure allow, a failing quota store changes nothing, because requests are served', async () => {
    const { ready } = start(async () => [], { quota: { spend: away }, onQuotaFailure: 'allow' })
    expect(await ready()).toEqual({ ok: true, failing: [] })
  })

  test('a key store that rejects an unknown token is ready', async () => {
    const find = () => Promise.reject(new PetStoreError('unknown_device', 'Unknown device.', { status: 403 }))
    expect((await start(async () => [], { keyStore: { find } }).ready()).ok).toBe(true)
  })

  test('a probe whose request has ended does not keep later ones waiting', async () => {
    vi.useFakeTimers()
    const clock = manualClock()
    const list = vi.fn<() => Promise<never[]>>(async () => []).mockImplementationOnce(never)
    const { ready } = start(list, { clock })
    void ready()
    // On Workers, the timers of the first probe end with its request.
    vi.clearAllTimers()
    const joined = ready()
    await vi.advanceTimersByTimeAsync(3_000)
    expect((await joined).ok).toBe(true)
    expect((await ready()).ok).toBe(true)
  })
})

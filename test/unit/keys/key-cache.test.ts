import fc from 'fast-check'
import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  type ApiKey,
  cachedKeyStore,
  createPetStore,
  type ManagedKeyStore,
  memory,
  PetStoreError,
} from '../../../src/index.ts'
import { keyCache as schema } from '../../../src/keys/key-cache.ts'
import { parseOption } from '../../../src/schemas/parse-options.ts'
import { manualClock } from '../../../src/testing/index.ts'

afterEach(() => void vi.useRealTimers())

const KEY: ApiKey = { id: 'key_1', plan: 'free' }

/** Creates a key store that records which tokens it is asked for. */
function countingStore(keys: Map<string, ApiKey>) {
  const asked: string[] = []
  const find = async (token: string) => {
    asked.push(token)
    return keys.get(token)
  }
  return { asked, find }
}

function managed(find: ManagedKeyStore['find'], revoke: ManagedKeyStore['revoke']): ManagedKeyStore {
  const unused = () => Promise.reject(new Error('not needed here'))
  return {
    find,
    revoke,
    issue: unused,
    adopt: unused,
    get: unused,
    list: unused,
    update: unused,
    rotate: unused,
    suspend: unused,
    resume: unused,
    remove: unused,
    recordUse: unused,
  }
}

describe('races', () => {
  test('find returns no key after revoke has resolved', async () => {
    const actions = fc.array(fc.constantFrom('find', 'find', 'find', 'revoke'), { minLength: 2, maxLength: 10 })
    const property = fc.asyncProperty(fc.scheduler(), actions, async (scheduler, actions) => {
      const pause = (label: string) => scheduler.schedule(Promise.resolve(), label)
      let isLive = true
      const find = async () => {
        await pause('the request of find')
        const key = isLive ? KEY : undefined
        await pause('the answer to find')
        return key
      }
      const revoke = async () => {
        await pause('the request of revoke')
        const wasLive = isLive
        isLive = false
        await pause('the answer to revoke')
        return wasLive
      }
      const store = cachedKeyStore(managed(find, revoke), { clock: manualClock() })
      let isRevoked = false
      const run = async (action: string) => {
        await pause(action)
        const mustBeRefused = isRevoked
        if (action === 'find') {
          const key = await store.find('token')
          if (mustBeRefused) expect(key).toBeUndefined()
        } else {
          await store.revoke(KEY.id)
          isRevoked = true
        }
      }
      const running = Promise.all(actions.map(run))
      await scheduler.waitFor(running)
    })
    await fc.assert(property, { numRuns: 2_000 })
  })

  test('a change by another process takes effect within ttl, despite clock jumps', async () => {
    const step = fc.oneof(fc.integer({ min: 0, max: 40_000 }), fc.integer({ min: -40_000, max: -1 }))
    const action = fc.oneof(step, fc.constant('change'))
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 40 }), async (actions) => {
        const clock = manualClock()
        const keys = new Map([['token', { ...KEY, label: '0' }]])
        const store = cachedKeyStore(countingStore(keys), { ttl: 30_000, clock })
        let changes: { at: number; label: string }[] = [{ at: -Infinity, label: '0' }]
        for (const [index, action] of actions.entries()) {
          if (action === 'change') {
            keys.set('token', { ...KEY, label: String(index) })
            changes.push({ at: clock.now(), label: String(index) })
          } else clock.advance(action)
          const label = (await store.find('token'))?.label
          const allowed = changes.filter((_, i) => (changes[i + 1]?.at ?? Infinity) > clock.now() - 30_000)
          expect(allowed.map(({ label }) => label)).toContain(label)
          // After this result, the cache must not return an earlier state of the key, even if the clock steps back.
          changes = changes.slice(changes.findIndex((change) => change.label === label))
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('look-ups', () => {
  test('concurrent calls with the same token share a look-up', async () => {
    const { asked, find } = countingStore(new Map([['known', KEY]]))
    const store = cachedKeyStore({ find })
    const tokens = Array.from({ length: 1_000 }, (_, i) => (i % 2 === 0 ? 'known' : 'unknown'))
    const found = await Promise.all(tokens.map((token) => store.find(token)))
    expect(found).toEqual(tokens.map((token) => (token === 'known' ? KEY : undefined)))
    expect(asked).toEqual(['known', 'unknown'])
    await store.find('known')
    await store.find('unknown')
    expect(asked).toHaveLength(2)
  })

  test('keys are cached for ttl, unknown tokens for 5 seconds', async () => {
    const clock = manualClock()
    const { asked, find } = countingStore(new Map([['known', KEY]]))
    const store = cachedKeyStore({ find }, { clock, ttl: 30_000 })
    const askedAt = async (time: number) => {
      clock.set(time)
      asked.length = 0
      await store.find('known')
      await store.find('unknown')
      return [...asked]
    }
    expect(await askedAt(0)).toEqual(['known', 'unknown'])
    expect(await askedAt(4_999)).toEqual([])
    expect(await askedAt(5_000)).toEqual(['unknown'])
    expect(await askedAt(29_999)).toEqual(['unknown'])
    expect(await askedAt(30_000)).toEqual(['known'])
  })

  test('the ttl of a key starts when its look-up begins', async () => {
    const clock = manualClock()
    const asked: number[] = []
    const slow = async () => {
      asked.push(clock.now())
      clock.advance(20_000)
      return KEY
    }
    const store = cachedKeyStore({ find: slow }, { clock, ttl: 30_000 })
    await store.find('a')
    clock.advance(9_999)
    await store.find('a')
    expect(asked).toHaveLength(1)
    clock.advance(1)
    await store.find('a')
    expect(asked).toHaveLength(2)
  })

  test('look-ups are not cached with ttl 0', async () => {
    const { asked, find } = countingStore(new Map([['known', KEY]]))
    const store = cachedKeyStore({ find }, { ttl: 0, clock: manualClock() })
    for (const token of ['known', 'known', 'unknown', 'unknown']) await store.find(token)
    expect(asked).toHaveLength(4)
  })

  test('look-ups that fail are not cached', async () => {
    let isDown = true
    const store = cachedKeyStore({
      find: async () => {
        if (isDown) throw new Error('down')
        return KEY
      },
    })
    const results = await Promise.allSettled([store.find('a'), store.find('a')])
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    isDown = false
    expect(await store.find('a')).toBe(KEY)
  })

  test('a request that waits 5 seconds for the look-up of another looks up the token itself', async () => {
    vi.useFakeTimers()
    const asked: string[] = []
    // The first look-up never ends: on Workers, its request was cancelled.
    const find = (token: string) => (asked.push(token) === 1 ? new Promise<never>(() => {}) : Promise.resolve(KEY))
    const store = cachedKeyStore({ find })
    void store.find('a')
    const joined = [store.find('a'), store.find('a')]
    await vi.advanceTimersByTimeAsync(4_999)
    expect(asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(await Promise.all(joined)).toEqual([KEY, KEY])
    expect(store.find('a')).toBe(KEY)
    expect(asked.length).toBeLessThanOrEqual(3)
    expect(vi.getTimerCount()).toBe(0)
  })

  test('an older look-up does not replace a newer result', async () => {
    const ends: ((key: ApiKey) => void)[] = []
    const find = () => new Promise<ApiKey>((resolve) => void ends.push(resolve))
    const store = cachedKeyStore({ find })
    const first = store.find('a')
    store.forget('a')
    const second = store.find('a')
    ends[1]?.(KEY)
    expect(await second).toBe(KEY)
    ends[0]?.({ ...KEY, plan: 'old' })
    expect(await first).toMatchObject({ plan: 'old' })
    expect(store.find('a')).toBe(KEY)
    expect(ends).toHaveLength(2)
  })

  test('no number of unknown tokens displaces a look-up in progress', async () => {
    const asked: string[] = []
    const ends = new Map<string, (key: ApiKey | undefined) => void>()
    const find = (token: string) => {
      asked.push(token)
      return new Promise<ApiKey | undefined>((resolve) => void ends.set(token, resolve))
    }
    const store = cachedKeyStore({ find })
    const first = store.find('valid')
    const junk = Array.from({ length: 400 }, (_, i) => `${i}`.padStart(8_000, 'x'))
    const unknown = junk.map((token) => store.find(token))
    for (const token of junk) ends.get(token)?.(undefined)
    await Promise.all(unknown)
    asked.length = 0
    const second = store.find('valid')
    ends.get('valid')?.(KEY)
    expect([await first, await second, store.find('valid')]).toEqual([KEY, KEY, KEY])
    expect(asked).toEqual([])
  })

  test('a token is unknown if the key store returns null for it', async () => {
    const clock = manualClock()
    const asked: string[] = []
    const keys = new Map([['known', KEY]])
    const find = async (token: string) => {
      asked.push(token)
      return keys.get(token) ?? null
    }
    const store = cachedKeyStore({ find }, { max: 10, clock })
    await store.find('known')
    for (let i = 0; i < 1_000; i++) expect(await store.find(`junk ${i}`)).toBeUndefined()
    asked.length = 0
    await store.find('known')
    expect(asked).toEqual([])
    keys.set('junk 999', KEY)
    clock.advance(5_000)
    expect(await store.find('junk 999')).toBe(KEY)
  })
})

describe('the size of the cache', () => {
  test('requests share at most `max` look-ups at the same time', async () => {
    const asked: string[] = []
    const find = (token: string) => {
      asked.push(token)
      return new Promise<ApiKey>(() => {})
    }
    const store = cachedKeyStore({ find }, { max: 4 })
    const tokens = Array.from({ length: 100 }, (_, i) => `token ${i}`)
    for (const token of tokens) void store.find(token)
    asked.length = 0
    for (const token of tokens.slice(-4)) void store.find(token)
    expect(asked).toEqual([])
    void store.find(tokens.at(-5) as string)
    expect(asked).toHaveLength(1)
  })

  test('the cache keeps at most `max` keys and `max` unknown tokens', async () => {
    const { asked, find } = countingStore(new Map(['a', 'b', 'c'].map((token) => [token, KEY])))
    const store = cachedKeyStore({ find }, { max: 2 })
    for (const tokens of [
      ['a', 'b', 'c', 'a'],
      ['x', 'y', 'z', 'x'],
    ]) {
      asked.length = 0
      for (const token of tokens) await store.find(token)
      expect(asked).toEqual(tokens)
    }
    asked.length = 0
    const long = 'x'.repeat(16_000)
    await store.find(long)
    await store.find(long)
    expect(asked).toEqual([long, long])
    asked.length = 0
    for (let i = 0; i < 100; i++) await store.find(`j${i}`)
    for (let i = 0; i < 98; i++) await store.find(`j${i}`)
    expect(asked).toHaveLength(198)
  })
})

describe('options', () => {
  test.each([{ ttl: -1 }, { ttl: '5' as never }, { ttl: Number.NaN }, { max: 0 }, { max: 1.5 }, { max: Number.NaN }])(
    'cachedKeyStore rejects the options %j',
    (options) => {
      const find = () => undefined
      expect(() => cachedKeyStore({ find }, options)).toThrow(expect.objectContaining({ code: 'invalid_option' }))
    },
  )

  test.each([undefined, null, {}, 'redis://'])('cachedKeyStore rejects %j instead of a key store', (store) => {
    expect(() => cachedKeyStore(store as never)).toThrow('option store: expected an object with find, got ')
  })
})

test.each([
  [false, undefined],
  [{}, undefined],
  [{ ttl: 5, max: 1 }, undefined],
  [true, 'option keyCache: expected false or { ttl, max, clock }, got true'],
  [5_000, 'option keyCache: expected false or { ttl, max, clock }, got the number 5000'],
  [{ ttl: -1 }, 'option keyCache.ttl: expected milliseconds, at least 0, got the number -1'],
])('checks the option keyCache of a back end: %j', (keyCache, message) => {
  const check = () => parseOption('keyCache', schema, keyCache)
  if (message === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(new PetStoreError('invalid_option', message))
})

test('cachedKeyStore lists the keys of its store', async () => {
  const store = managed(
    () => KEY,
    async () => true,
  )
  expect(await cachedKeyStore({ ...store, list: async () => [KEY] }).list({ limit: 1 })).toEqual([KEY])
})

test('cachedKeyStore adds only the method `forget` to those of the key store', () => {
  expect(Object.keys(cachedKeyStore({ find: () => KEY }))).toEqual(['find', 'forget'])
})

test('cachedKeyStore passes the time limit of a call on', async () => {
  const { keyStore } = memory()
  const list = vi.fn(keyStore.list)
  const { signal } = new AbortController()
  await cachedKeyStore({ ...keyStore, list }).list({ limit: 1 }, { signal })
  expect(list).toHaveBeenCalledWith({ limit: 1 }, { signal })
})

test('a key store with some methods lacks the others in the cache too', async () => {
  const { find, issue } = memory().keyStore
  const onError = vi.fn()
  const petStore = createPetStore({ keyStore: cachedKeyStore({ find, issue }), onError })
  const { token, key } = await petStore.keys.issue({ plan: 'free' })
  const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } })
  expect([response.status, onError.mock.calls]).toEqual([200, []])
  await expect(petStore.keys.suspend(key.id)).rejects.toMatchObject({ code: 'keys_not_supported' })
})

test('revoke removes only the revoked key from the cache', async () => {
  const { asked, find } = countingStore(new Map(['a', 'b'].map((token) => [token, { ...KEY, id: token }])))
  const store = cachedKeyStore(managed(find, async () => true))
  for (const token of ['a', 'b']) await store.find(token)
  await store.revoke('a')
  for (const token of ['a', 'b']) await store.find(token)
  expect(asked).toEqual(['a', 'b', 'a'])
})

test('an issued token stays valid when the clock steps back', async () => {
  const clock = manualClock()
  const keys = new Map<string, ApiKey>()
  const store = cachedKeyStore(countingStore(keys), { clock })
  expect(await store.find('token')).toBeUndefined()
  keys.set('token', KEY)
  clock.advance(10_000)
  expect(await store.find('token')).toBe(KEY)
  clock.advance(-7_000)
  expect(await store.find('token')).toBe(KEY)
})

test('a token that was unknown is valid as soon as it is issued', async () => {
  const keys = new Map<string, ApiKey>()
  const issue = async () => {
    keys.set('token', KEY)
    return { token: 'token', key: KEY }
  }
  const { find } = countingStore(keys)
  const store = cachedKeyStore({ ...managed(find, async () => true), issue })
  expect(await store.find('token')).toBeUndefined()
  await store.issue({ plan: 'free' })
  expect(await store.find('token')).toBe(KEY)
})

test('a revoked key stays unknown when the clock steps back', async () => {
  const clock = manualClock()
  const keys = new Map([['token', KEY]])
  const store = cachedKeyStore(countingStore(keys), { clock })
  expect(await store.find('token')).toBe(KEY)
  keys.delete('token')
  clock.advance(30_000)
  expect(await store.find('token')).toBeUndefined()
  clock.advance(-25_000)
  expect(await store.find('token')).toBeUndefined()
})

test('after forget, the next request reads the key again', async () => {
  const keys = new Map([['a', KEY]])
  const store = countingStore(keys)
  const { find, forget } = cachedKeyStore(store, { clock: manualClock() })
  await find('a')
  keys.set('a', { ...KEY, plan: 'pro' })
  expect(await find('a')).toBe(KEY)
  forget('a')
  expect(await find('a')).toMatchObject({ plan: 'pro' })
  expect(store.asked).toEqual(['a', 'a'])
})

test('after an update through the cache, find returns the changed key', async () => {
  const inner = memory().keyStore
  const store = cachedKeyStore(inner, { clock: manualClock() })
  const { token, key } = await store.issue({ plan: 'free' })
  await store.find(token)
  await store.update(key.id, { plan: 'pro' })
  expect(await store.find(token)).toMatchObject({ plan: 'pro' })
})

test('find returns an expired key again after its date is changed', async () => {
  const clock = manualClock()
  const store = cachedKeyStore(memory({ clock }).keyStore, { clock })
  const { token, key } = await store.issue({ plan: 'free', expiresAt: clock.now() })
  expect(await store.find(token)).toBeUndefined()
  await store.update(key.id, { expiresAt: null })
  expect(await store.find(token)).toMatchObject({ plan: 'free' })
})

test('find returns no cached key after it has expired', async () => {
  const clock = manualClock()
  const expiresAt = clock.now() + 10_000
  const store = cachedKeyStore({ find: () => ({ ...KEY, expiresAt }) }, { clock, ttl: 60_000 })
  expect(await store.find('a')).toMatchObject({ expiresAt })
  clock.advance(9_999)
  expect(await store.find('a')).toMatchObject({ expiresAt })
  clock.advance(1)
  expect(await store.find('a')).toBeUndefined()
})

test.each([{ revokedAt: 5 }, { expiresAt: -1 }])('find returns no key with %j of any store', async (members) => {
  const store = cachedKeyStore({ find: () => ({ ...KEY, ...members }) })
  expect([await store.find('a'), await store.find('a')]).toEqual([undefined, undefined])
})

test('forget removes a key by its id, and tokens that were unknown', async () => {
  const keys = new Map([
    ['a', KEY],
    ['b', { ...KEY, id: 'key_2' }],
  ])
  const inner = countingStore(keys)
  const { find, forget } = cachedKeyStore(inner, { clock: manualClock() })
  for (const token of ['a', 'b', 'c']) await find(token)
  keys.set('a', { ...KEY, plan: 'pro' }).set('c', { ...KEY, label: 'second token' })
  inner.asked.length = 0
  forget({ id: KEY.id })
  expect(await find('a')).toMatchObject({ plan: 'pro' })
  expect(await find('c')).toMatchObject({ label: 'second token' })
  await find('b')
  expect(inner.asked).toEqual(['a', 'c'])
})

test('a look-up that began before `forget` is not cached', async () => {
  const ends: ((key: ApiKey) => void)[] = []
  const store = cachedKeyStore({ find: () => new Promise<ApiKey>((resolve) => void ends.push(resolve)) })
  const first = store.find('a')
  store.forget({ id: KEY.id })
  ends[0]?.(KEY)
  expect(await first).toBe(KEY)
  const second = store.find('a')
  ends[1]?.({ ...KEY, plan: 'pro' })
  expect(await second).toMatchObject({ plan: 'pro' })
})

test.each([undefined, null, {}, { id: 7 }])('forget rejects %j', (target) => {
  const { forget } = cachedKeyStore({ find: () => KEY })
  expect(() => forget(target as never)).toThrow('option target: expected a token, or an object with the id of a key')
})

import { expect, test, vi } from 'vitest'
import { createPetStore, memory } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'

const NOON = Date.UTC(2026, 5, 1, 12)

/** Creates a store with one key, and a function that sends requests with it. Returns the statuses. */
async function storeWithKey(perMinute: number, perDay: number) {
  const clock = manualClock(NOON)
  const onResponse = vi.fn()
  const backEnd = memory({ clock })
  const store = createPetStore({ ...backEnd, clock, onResponse })
  const { token, key } = await store.keyStore.issue({ plan: 'free', limits: { perMinute, perDay } })
  async function send(times: number): Promise<number[]> {
    const statuses: number[] = []
    for (let i = 0; i < times; i++) {
      const response = await store.fetch('http://localhost/v1/pets', { headers: { authorization: `Bearer ${token}` } })
      statuses.push(response.status)
    }
    return statuses
  }
  return { backEnd, clock, key, onResponse, send, store }
}

test('usage returns both windows and counts nothing', async () => {
  const { key, send, store } = await storeWithKey(2, 5)
  await send(2)
  const expected = {
    plan: 'free',
    minute: { limit: 2, used: 2, remaining: 0, resetsAt: NOON + 60_000 },
    day: { limit: 5, used: 2, remaining: 3, resetsAt: NOON + 12 * 3_600_000 },
    bannedUntil: undefined,
    now: NOON,
  }
  expect(await store.keys.usage(key)).toEqual(expected)
  expect(await store.keys.usage(key)).toEqual(expected)
})

test('usage shows a ban, and resetUsage ends it', async () => {
  const { clock, key, send, store } = await storeWithKey(1, 5)
  expect(await send(3)).toEqual([200, 429, 429])
  expect((await store.keys.usage(key)).bannedUntil).toBe(NOON + 300_000)
  clock.advance(300_000)
  expect((await store.keys.usage(key)).bannedUntil).toBeUndefined()
  clock.advance(-1)
  await store.keys.resetUsage(key)
  expect(await store.keys.usage(key)).toMatchObject({ minute: { used: 0 }, day: { used: 0 }, bannedUntil: undefined })
  expect(await send(1)).toEqual([200])
})

test('a reset by another process takes effect within five seconds', async () => {
  const { backEnd, clock, key, send } = await storeWithKey(1, 5)
  await send(3)
  await backEnd.quota.reset?.({ subject: `key:${key.id}`, anonymous: false })
  expect(await send(1)).toEqual([429])
  clock.advance(5_000)
  expect(await send(1)).toEqual([200])
})

test('after a change to a smaller plan, nothing remains and the requests stay', async () => {
  const { key, send, store } = await storeWithKey(10, 20)
  await send(5)
  const limits = { perMinute: 3, perDay: 4 }
  const changed = await store.keyStore.update(key.id, { limits })
  expect(changed && (await store.keys.usage(changed))).toMatchObject({
    minute: { limit: 3, used: 5, remaining: 0 },
    day: { limit: 4, used: 5, remaining: 0 },
  })
})

test('onResponse gets the rate limit that the headers state', async () => {
  const { onResponse, send } = await storeWithKey(2, 5)
  await send(1)
  expect(onResponse.mock.calls[0]?.[0].rateLimit).toEqual({ limit: 2, remaining: 1, resetsAt: NOON + 60_000 })
})

test('a quota store without peek and reset gives a clear error', async () => {
  const { spend } = memory().quota
  const store = createPetStore({ quota: { spend } })
  const { key } = await store.keyStore.issue({ plan: 'free' })
  await expect(store.keys.usage(key)).rejects.toMatchObject({
    code: 'usage_not_supported',
    message: 'option quota: expected a quota store with the method peek; add it to your quota store',
  })
  await expect(store.keys.resetUsage(key)).rejects.toMatchObject({
    code: 'usage_not_supported',
    message: expect.stringContaining('with the method reset;'),
  })
})

test('usage rejects a key without limits', async () => {
  const usage = createPetStore().keys.usage({ id: 'a', plan: 'gold' })
  await expect(usage).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringContaining('on its plan "gold"'),
  })
})

test.each(['usage', 'resetUsage'] as const)('%s rejects a token, and does not repeat it', async (method) => {
  const store = createPetStore()
  const { token } = await store.keyStore.issue({ plan: 'free' })
  await expect(store.keys[method](token as never)).rejects.toMatchObject({
    code: 'invalid_option',
    message: 'option id: expected the id of a key, not its token, got the string "***"',
  })
  await expect(store.keys[method](undefined as never)).rejects.toMatchObject({ code: 'invalid_option' })
})

test('keys of one account share counts, and each has the limits of its own plan', async () => {
  const clock = manualClock(NOON)
  const store = createPetStore({
    clock,
    plans: { small: { perMinute: 2, perDay: 10 }, large: { perMinute: 4, perDay: 10 } },
  })
  const small = await store.keyStore.issue({ plan: 'small', account: 'acme' })
  const large = await store.keyStore.issue({ plan: 'large', account: 'acme' })
  const statusOf = async ({ token }: { readonly token: string }) =>
    (await store.fetch('http://localhost/v1/pets', { headers: { authorization: `Bearer ${token}` } })).status
  expect([await statusOf(large), await statusOf(large)]).toEqual([200, 200])
  expect([await statusOf(small), await statusOf(large)]).toEqual([429, 200])
  expect(await store.keys.usage(small.key)).toMatchObject({ minute: { limit: 2, used: 3, remaining: 0 } })
  expect(await store.keys.usage(large.key)).toMatchObject({ minute: { limit: 4, used: 3, remaining: 1 } })
})

test('a change of the plan keeps the counts and a ban', async () => {
  const { clock, key, send, store } = await storeWithKey(1, 5)
  await send(3)
  await store.keyStore.update(key.id, { limits: { perMinute: 100, perDay: 1_000 } })
  expect(await send(1)).toEqual([429])
  clock.advance(300_000)
  expect(await send(1)).toEqual([200])
  const [changed] = await store.keyStore.list({ limit: 1_000 })
  expect(changed && (await store.keys.usage(changed)).day).toMatchObject({ limit: 1_000, used: 2 })
})

test('usage rejects with the error of the quota store itself', async () => {
  const lost = new Error('connection lost')
  const { quota, ...others } = memory()
  const store = createPetStore({ ...others, quota: { ...quota, peek: () => Promise.reject(lost) } })
  await expect(store.keys.usage({ id: 'key', plan: 'free' })).rejects.toBe(lost)
})

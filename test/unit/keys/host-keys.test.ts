import { createHash } from 'node:crypto'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import {
  cachedKeyStore,
  createPetStore,
  type KeyStore,
  type ManagedKeyStore,
  memory,
  type PetStoreOptions,
} from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'

const START = Date.UTC(2026, 0, 31, 12)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

function open(options: PetStoreOptions = {}) {
  const clock = manualClock(START)
  const petStore = createPetStore({ clock, ...memory({ clock }), ...options })
  const statusOf = async (token: string, init: RequestInit = {}) =>
    (await petStore.fetch('http://a/v1/pets', { ...init, headers: { authorization: `Bearer ${token}` } })).status
  return { clock, petStore, keys: petStore.keys, statusOf }
}

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

describe('issue', () => {
  test('accepts the plans of the store', async () => {
    const { keys } = open({ plans: { gold: { perMinute: 1, perDay: 2 } } })
    expect((await keys.issue({ plan: 'gold' })).key.plan).toBe('gold')
    expect((await keys.issue({ plan: 'pro' })).key.plan).toBe('pro')
    await expect(keys.issue({ plan: 'glod' })).rejects.toMatchObject({
      code: 'invalid_option',
      message:
        'option plan: expected one of the plans free, pro, business, gold, unless the key has limits ' +
        '(to add a plan, pass plans: { "glod": { perMinute, perDay } } to createPetStore), got the string "glod"',
    })
  })

  test('accepts the plan `enterprise` with limits of the key or of the store', async () => {
    const limits = { perMinute: 10, perDay: 100 }
    await expect(open().keys.issue({ plan: 'enterprise' })).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^option limits: expected .* for the plan enterprise, unless the option plans/),
    })
    expect((await open().keys.issue({ plan: 'enterprise', limits })).key.limits).toEqual(limits)
    const { keys } = open({ plans: { enterprise: limits } })
    const { key } = await keys.issue({ plan: 'enterprise' })
    expect((await keys.usage(key.id)).minute.limit).toBe(10)
  })

  test.each([
    ['2030-01-31', Date.UTC(2030, 0, 31)],
    ['2030-01-31T12:00Z', Date.UTC(2030, 0, 31, 12)],
    ['2030-01-31T12:00:00.5+02:00', Date.UTC(2030, 0, 31, 10, 0, 0, 500)],
    [new Date(Date.UTC(2030, 0, 31)), Date.UTC(2030, 0, 31)],
    [Date.UTC(2030, 0, 31), Date.UTC(2030, 0, 31)],
  ])('accepts the expiry %s', async (expiresAt, time) => {
    expect((await open().keys.issue({ plan: 'free', expiresAt })).key.expiresAt).toBe(time)
  })

  test.each(['2030-02-30', '2030-01-31 12:00', 'soon', '', 1_900_000_000, new Date(Number.NaN)])(
    'rejects the expiry %j',
    async (expiresAt) => {
      await expect(open().keys.issue({ plan: 'free', expiresAt })).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/^option expiresAt: expected a time such as a Date, "2030-01-31"/),
      })
    },
  )

  test('adopts a token of any form, but only once', async () => {
    const { keys, statusOf } = open()
    const token = 'sk_live-0815.x'
    expect(await statusOf(token)).toBe(401)
    const { key, ...others } = await keys.issue({
      plan: 'pro',
      account: 'acme',
      tokenSha256: sha256(token).toUpperCase(),
    })
    expect(others).toEqual({})
    expect(await statusOf(token)).toBe(200)
    expect(await keys.get(key.id)).toMatchObject({ plan: 'pro', account: 'acme' })
    await expect(keys.issue({ plan: 'free', tokenSha256: sha256(token) })).rejects.toMatchObject({ code: 'key_exists' })
  })

  test.each(['tokenSha256', 'token'])('does not repeat a token that was passed as %s', async (name) => {
    const options = { plan: 'free', [name]: 'my-secret-token' }
    await expect(open().keys.issue(options)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(
        `^option ${name}: .*the SHA-256 of the token in hexadecimal.*, got the string "\\*\\*\\*"$`,
      ),
    })
  })
})

describe('list and all', () => {
  test('return the oldest key first, in pages', async () => {
    const { keys } = open()
    const ids: string[] = []
    for (let i = 0; i < 1_250; i++) ids.push((await keys.issue({ plan: 'free', label: `${i}` })).key.id)
    expect((await keys.list()).map(({ id }) => id)).toEqual(ids.slice(0, 100))
    expect((await keys.list({ after: ids[99] ?? '', limit: 2 })).map(({ id }) => id)).toEqual(ids.slice(100, 102))
    expect((await allOf(keys.all())).map(({ id }) => id)).toEqual(ids)
  })

  test('select keys by account and state', async () => {
    const { keys } = open()
    const { key: laptop } = await keys.issue({ plan: 'free', account: 'acme' })
    const { key: server } = await keys.issue({ plan: 'free', account: 'acme' })
    await keys.issue({ plan: 'free', account: 'other' })
    await keys.suspend(laptop.id)
    expect(await keys.list({ account: 'acme', state: 'active' })).toEqual([server])
    expect((await allOf(keys.all({ account: 'acme', state: 'suspended' }))).map(({ id }) => id)).toEqual([laptop.id])
  })

  test('permit the removal of keys meanwhile', async () => {
    const { keys } = open()
    for (let i = 0; i < 2_300; i++) {
      const { key } = await keys.issue({ plan: 'free' })
      if (i % 2 === 0) await keys.revoke(key.id)
    }
    for await (const { id } of keys.all({ state: 'revoked' })) await keys.remove(id)
    expect((await allOf(keys.all())).length).toBe(1_150)
  })

  test.each([{ limit: 0 }, { limit: 1_001 }, { state: 'valid' }, { account: '' }, { after: `pet_${'0'.repeat(49)}` }])(
    'list rejects the query %j',
    async (query) => {
      await expect(open().keys.list(query as never)).rejects.toMatchObject({ code: 'invalid_option' })
    },
  )
})

describe('rotate', () => {
  test('both tokens count together and share idempotency keys, also without an account', async () => {
    const { petStore, keys, clock } = open()
    const { token, key } = await keys.issue({ plan: 'free' })
    const create = (sent: string) =>
      petStore.fetch('http://a/v1/pets', {
        method: 'POST',
        headers: { authorization: `Bearer ${sent}`, 'content-type': 'application/json', 'idempotency-key': 'order-1' },
        body: '{"name":"Rex","categoryId":1}',
      })
    expect((await create(token)).status).toBe(201)
    const rotated = await keys.rotate(key.id, { overlapSeconds: 60 })
    expect(rotated.key).toMatchObject({ id: key.id, plan: 'free', previousTokenExpiresAt: START + 60_000 })
    const replay = await create(rotated.token)
    expect([replay.status, replay.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect((await create(token)).headers.get('idempotency-replayed')).toBe('true')
    expect(await petStore.pets.count()).toBe(1)
    expect((await keys.usage(key.id)).day.used).toBe(3)
    clock.advance(60_000)
    expect((await create(token)).status).toBe(401)
    expect((await create(rotated.token)).status).toBe(201)
  })

  test('ends the previous token at once by default', async () => {
    const { keys, statusOf } = open()
    const { token, key } = await keys.issue({ plan: 'free' })
    expect(await statusOf(token)).toBe(200)
    const rotated = await keys.rotate(key.id)
    expect([await statusOf(token), await statusOf(rotated.token)]).toEqual([401, 200])
  })

  test.each([-1, 1.5, 31_536_001, '60'])('rejects an overlap of %j seconds', async (overlapSeconds) => {
    const { keys } = open()
    const { key } = await keys.issue({ plan: 'free' })
    await expect(keys.rotate(key.id, { overlapSeconds: overlapSeconds as never })).rejects.toMatchObject({
      code: 'invalid_option',
    })
  })
})

describe('the life of a key', () => {
  test('suspend gives 401 until resume', async () => {
    const { keys, statusOf } = open()
    const { token, key } = await keys.issue({ plan: 'free' })
    expect((await keys.suspend(key.id)).suspendedAt).toBe(START)
    expect(await statusOf(token)).toBe(401)
    expect(await keys.resume(key.id)).not.toHaveProperty('suspendedAt')
    expect(await statusOf(token)).toBe(200)
  })

  test('revoke may be repeated, and remove needs a key that has ended', async () => {
    const { keys, statusOf, clock } = open()
    const { token, key } = await keys.issue({ plan: 'free' })
    await expect(keys.remove(key.id)).rejects.toMatchObject({ code: 'key_not_ended' })
    expect((await keys.revoke(key.id)).revokedAt).toBe(START)
    clock.advance(5)
    expect((await keys.revoke(key.id)).revokedAt).toBe(START)
    expect(await statusOf(token)).toBe(401)
    await keys.remove(key.id)
    expect(await keys.get(key.id)).toBeUndefined()
  })

  test.each([
    ['update', { plan: 'pro' }],
    ['rotate', {}],
    ['suspend', undefined],
    ['resume', undefined],
  ] as const)('%s rejects a revoked and an unknown key', async (method, argument) => {
    const { keys } = open()
    const { key } = await keys.issue({ plan: 'free' })
    await keys.revoke(key.id)
    const call = (id: string) => (keys[method] as (id: string, argument: unknown) => Promise<unknown>)(id, argument)
    await expect(call(key.id)).rejects.toMatchObject({ code: 'key_revoked' })
    await expect(call('key_unknown')).rejects.toMatchObject({ code: 'key_not_found' })
  })

  test.each(['revoke', 'remove', 'usage', 'resetUsage'] as const)('%s rejects an unknown key', async (method) => {
    await expect(open().keys[method]('key_unknown')).rejects.toMatchObject({
      code: 'key_not_found',
      message: 'There is no key with this id.',
    })
  })

  test.each(['get', 'suspend', 'revoke', 'remove', 'usage'] as const)('%s does not repeat a token', async (method) => {
    const { keys } = open()
    const { token } = await keys.issue({ plan: 'free' })
    await expect(keys[method](token)).rejects.toMatchObject({
      code: 'invalid_option',
      message: 'option id: expected the id of a key, not its token, got the string "***"',
    })
  })

  test('update checks the plan by the plans of the store', async () => {
    const { keys } = open({ plans: { gold: { perMinute: 1, perDay: 2 } } })
    const { key } = await keys.issue({ plan: 'free', access: 'read' })
    expect(await keys.update(key.id, { plan: 'gold', access: null })).toEqual({
      ...key,
      plan: 'gold',
      access: undefined,
    })
    await expect(keys.update(key.id, { plan: 'silver' })).rejects.toMatchObject({ code: 'invalid_option' })
    await expect(keys.update(key.id, { limits: null })).rejects.toMatchObject({ code: 'invalid_option' })
  })
})

describe("a key store of the host's own", () => {
  const find: KeyStore['find'] = (token) => (token === 'desk' ? { id: 'desk', plan: 'free' } : undefined)

  test('gives a clear error for what it cannot do', async () => {
    const { keys } = open({ keyStore: { find } })
    for (const call of [() => keys.get('desk'), () => keys.list(), () => keys.issue({ plan: 'free' })])
      await expect(call()).rejects.toMatchObject({
        code: 'keys_not_supported',
        message: expect.stringMatching(/^option keyStore: expected a key store with the method \w+; add it/),
      })
  })

  test('has usage for a key, without an id', async () => {
    const { keys, statusOf } = open({ keyStore: { find } })
    await statusOf('desk')
    expect((await keys.usage({ id: 'desk', plan: 'free' })).minute.used).toBe(1)
  })

  test('may suspend keys by a member', async () => {
    const { statusOf } = open({ keyStore: { find: () => ({ id: 'desk', plan: 'free', suspendedAt: 5 }) } })
    expect(await statusOf('desk')).toBe(401)
  })

  test('its own errors reach the host', async () => {
    const error = new Error('the directory is down')
    const keyStore = { ...memory().keyStore, suspend: () => Promise.reject(error) }
    await expect(open({ keyStore }).keys.suspend('key_1')).rejects.toBe(error)
  })
})

describe('the day of the last use', () => {
  const DAY = 86_400_000

  function openRecorded(recordUse: (ids: readonly string[], day: string) => Promise<void>) {
    const onError = vi.fn()
    const clock = manualClock(START)
    const { keyStore, ...others } = memory({ clock })
    const recording: ManagedKeyStore = { ...keyStore, recordUse }
    const opened = open({ clock, ...others, keyStore: recording, onError })
    return { ...opened, clock, onError }
  }

  test('is in the list of keys', async () => {
    const { keys, statusOf, clock } = open()
    const { token, key } = await keys.issue({ plan: 'free' })
    expect((await keys.get(key.id))?.lastUsedOn).toBeUndefined()
    await statusOf(token)
    expect(await keys.list()).toMatchObject([{ lastUsedOn: '2026-01-31' }])
    clock.advance(DAY)
    await statusOf(token)
    expect(await keys.get(key.id)).toMatchObject({ lastUsedOn: '2026-02-01' })
  })

  test('is written once for each key and day', async () => {
    const recordUse = vi.fn(async () => {})
    const { keys, statusOf, clock } = openRecorded(recordUse)
    const { token, key } = await keys.issue({ plan: 'free' })
    const other = await keys.issue({ plan: 'free' })
    for (let i = 0; i < 3; i++) await statusOf(token)
    await statusOf(other.token)
    expect(recordUse.mock.calls.map(([ids, day]: unknown[]) => [ids, day])).toEqual([
      [[key.id], '2026-01-31'],
      [[other.key.id], '2026-01-31'],
    ])
    clock.advance(DAY)
    await statusOf(token)
    expect(recordUse).toHaveBeenCalledTimes(3)
  })

  test('delays no request, and one call at a time takes all keys that wait', async () => {
    let finish = () => {}
    const recordUse = vi.fn(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve
        }),
    )
    const { keys, statusOf } = openRecorded(recordUse)
    const issued = await Promise.all(Array.from({ length: 4 }, () => keys.issue({ plan: 'free' })))
    for (const { token } of issued) expect(await statusOf(token)).toBe(200)
    expect(recordUse).toHaveBeenCalledTimes(1)
    finish()
    await vi.waitFor(() => expect(recordUse).toHaveBeenCalledTimes(2))
    const ids = issued.slice(1).map(({ key }) => key.id)
    expect(recordUse).toHaveBeenLastCalledWith(ids, '2026-01-31', expect.anything())
    finish()
  })

  test('is the day of the request, if its call waits until midnight', async () => {
    const calls: { ids: readonly string[]; day: string; finish: () => void }[] = []
    const { keys, statusOf, clock } = openRecorded(
      (ids, day) => new Promise((finish) => calls.push({ ids, day, finish })),
    )
    const [first, second, third] = await Promise.all(
      ['a', 'b', 'c'].map((label) => keys.issue({ plan: 'free', label })),
    )
    clock.set(Date.UTC(2026, 0, 31, 23, 59, 59))
    await statusOf(first?.token ?? '')
    await statusOf(second?.token ?? '')
    clock.advance(1_000)
    await statusOf(third?.token ?? '')
    for (const count of [1, 2, 3]) {
      await vi.waitFor(() => expect(calls.length).toBe(count))
      calls.at(-1)?.finish()
    }
    expect(calls.map(({ ids, day }) => [ids, day])).toEqual([
      [[first?.key.id], '2026-01-31'],
      [[second?.key.id], '2026-01-31'],
      [[third?.key.id], '2026-02-01'],
    ])
  })

  test('is not written again by another store on the same day', async () => {
    const clock = manualClock(START)
    const backEnd = memory({ clock })
    const first = open({ clock, ...backEnd })
    const { token } = await first.keys.issue({ plan: 'free' })
    await first.statusOf(token)
    const recordUse = vi.fn(async () => {})
    const keyStore: ManagedKeyStore = { ...backEnd.keyStore, recordUse }
    const second = open({ clock, ...backEnd, keyStore })
    await second.statusOf(token)
    expect(recordUse).not.toHaveBeenCalled()
  })

  // On Workers, not even the timer of the time limit fires after the end of a request.
  test('is tried again after a call that stays pending for ever', async () => {
    vi.useFakeTimers()
    onTestFinished(() => {
      vi.useRealTimers()
    })
    const recordUse = vi.fn(() => new Promise<void>(() => {}))
    const { keys, statusOf, clock } = openRecorded(recordUse)
    const { token, key } = await keys.issue({ plan: 'free' })
    await statusOf(token)
    clock.advance(10_000)
    await statusOf(token)
    expect(recordUse).toHaveBeenCalledTimes(1)
    clock.advance(1)
    await statusOf(token)
    expect(recordUse).toHaveBeenCalledTimes(2)
    expect(recordUse).toHaveBeenLastCalledWith([key.id], '2026-01-31', expect.anything())
  })

  test('reports a failure once, and tries again after a minute', async () => {
    const failure = new Error('no right to write')
    const recordUse = vi.fn(() => Promise.reject(failure))
    const { keys, statusOf, clock, onError } = openRecorded(recordUse)
    const { token } = await keys.issue({ plan: 'free' })
    for (let i = 0; i < 3; i++) expect(await statusOf(token)).toBe(200)
    expect(recordUse).toHaveBeenCalledTimes(1)
    clock.advance(60_000)
    for (let i = 0; i < 3; i++) expect(await statusOf(token)).toBe(200)
    expect(recordUse).toHaveBeenCalledTimes(2)
    expect(onError.mock.calls).toEqual([[failure, {}]])
  })
})

test('a change through a key store with a cache takes effect at once', async () => {
  const { keys, statusOf } = open({ keyStore: cachedKeyStore(memory().keyStore) })
  const { token, key } = await keys.issue({ plan: 'free' })
  expect(await statusOf(token)).toBe(200)
  await keys.suspend(key.id)
  expect(await statusOf(token)).toBe(401)
  await keys.resume(key.id)
  expect(await statusOf(token)).toBe(200)
  expect(await statusOf('customer-token')).toBe(401)
  await keys.issue({ plan: 'free', tokenSha256: sha256('customer-token') })
  expect(await statusOf('customer-token')).toBe(200)
})

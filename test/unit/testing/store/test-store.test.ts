import { mock } from 'node:test'
import { build } from 'esbuild'
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { serve } from '../../../../adapters/hosts/node/index.ts'
import { createPetStoreClient } from '../../../../src/client/index.ts'
import { memory } from '../../../../src/index.ts'
import { operationNames } from '../../../../src/operations.ts'
import { createTestPetStore, type FaultScope, manualClock, type PartFaults } from '../../../../src/testing/index.ts'

afterEach(() => void vi.useRealTimers())

const REX = '{"name":"Rex","categoryId":1}'

describe('options', () => {
  test.each(['storage', 'keyStore', 'quota'] as const)('the option %s is rejected', async (name) => {
    await expect(createTestPetStore({ [name]: memory()[name] })).rejects.toMatchObject({
      code: 'invalid_option',
      message: `option ${name}: expected none, because a test store has its own, got an object`,
    })
  })

  test.each([
    ['pets', { pets: 5 }],
    ['pets\\[0\\]\\.name', { pets: [{ categoryId: 1n }] }],
    ['pets\\[1\\]\\.categoryId', { pets: [{ name: 'Rex' }, { name: 'Ada', categoryId: 2 ** 53 }] }],
    ['pets\\[0\\]\\.id', { pets: [{ id: 0, name: 'Rex' }] }],
    ['pets\\[0\\]\\.name', { maxNameLength: 2, pets: [{ name: 'Rex' }] }],
    ['pets\\[0\\]\\.status', { pets: [{ name: 'Rex', status: 'lost' }] }],
    ['plan', { plan: 'gold' }],
    ['plan', { plan: 'enterprise' }],
    ['token', { token: 'a token' }],
    ['clock', { clock: 5 }],
    ['colour', { colour: 'red' }],
  ])('an invalid option is named in the error: %s', async (name, options) => {
    await expect(createTestPetStore(options as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(new RegExp(`^option ${name}: `)),
    })
  })

  test('the store starts with the animals of the option `pets`', async () => {
    const { client } = await createTestPetStore({
      pets: [{ name: 'Rex' }, { name: 'Ada', categoryId: 9007199254740993n, status: 'sold' }],
    })
    expect((await client.listPets()).pets).toEqual([
      { id: 1n, name: 'Rex', categoryId: 1n, status: 'available' },
      { id: 2n, name: 'Ada', categoryId: 9007199254740993n, status: 'sold' },
    ])
  })

  test('animals of the option `pets` keep their ids, also after a reset', async () => {
    const { pets, reset } = await createTestPetStore({
      defaultStatus: 'pending',
      pets: [{ name: 'Rex' }, { id: 7, name: 'Ada', categoryId: 3 }],
    })
    await pets.update(7, { status: 'sold' })
    await pets.remove(8)
    await reset()
    expect(await pets.list()).toEqual([
      { id: 7n, name: 'Ada', categoryId: 3n, status: 'pending' },
      { id: 8n, name: 'Rex', categoryId: 1n, status: 'pending' },
    ])
  })

  test('10,000 wrong animals are an error of one screen', async () => {
    const pets = Array.from({ length: 10_000 }, () => ({ name: '' }))
    const { message } = await createTestPetStore({ pets }).catch((error) => error)
    expect(message).toContain('and 9,997 more')
    expect(message.length).toBeLessThan(1_000)
  })

  test('a test sells an animal between two requests', async () => {
    const { pets, request } = await createTestPetStore({ pets: [{ name: 'Rex' }] })
    const available = async () => (await request('/pets?status=available')).json()
    expect(await available()).toHaveLength(1)
    await pets.update(1, { status: 'sold' })
    expect(await available()).toEqual([])
  })

  test('the option `token` accepts a text that does not begin with pet_', async () => {
    const { fetch, keys, token } = await createTestPetStore({ token: 'test-key' })
    const ask = async (sent: string) =>
      (await fetch('https://api.example/v1/pets', { headers: { authorization: `Bearer ${sent}` } })).status
    expect([token, await ask('test-key'), await ask('other-key')]).toEqual(['test-key', 200, 401])
    const [key] = await keys.list()
    await keys.revoke(key?.id ?? '')
    expect(await ask('test-key')).toBe(401)
  })

  test.each([
    ['business', undefined, 1_000],
    ['enterprise', { enterprise: { perMinute: 7, perDay: 70 } }, 7],
    ['gold', { gold: { perMinute: 8, perDay: 80 } }, 8],
  ] as const)('the key has the limits of the plan %s', async (plan, plans, limit) => {
    const { client } = await createTestPetStore({ plan, plans })
    await client.listPets()
    expect(client.rateLimit?.limit).toBe(limit)
  })
})

describe('hooks', () => {
  test('onPetCreated is called for requests, and not for `pets`', async () => {
    const onPetCreated = vi.fn()
    const { client, pets } = await createTestPetStore({ onPetCreated })
    await pets.add({ name: 'Ada', categoryId: 1 })
    const pet = await client.createPet({ name: 'Rex', categoryId: 1n })
    expect(onPetCreated).toHaveBeenCalledExactlyOnceWith({ pet, key: expect.objectContaining({ plan: 'free' }) })
  })

  test('onLimit is called again after reset', async () => {
    const onLimit = vi.fn()
    const plans = { free: { perMinute: 1, perDay: 9 } }
    const { request, reset } = await createTestPetStore({ plans, onLimit, ban: false })
    for (const calls of [1, 2]) {
      await request('/pets')
      await request('/pets')
      expect(onLimit).toHaveBeenCalledTimes(calls)
      await reset()
    }
  })
})

describe('the clock', () => {
  test('with the option `clock: Date`, the store follows fake timers that start later', async () => {
    const { request, clock, requests } = await createTestPetStore({ clock: Date, pets: [{ name: 'Rex' }] })
    expect(clock).toBe(Date)
    vi.useFakeTimers({ now: Date.UTC(2030, 11, 4, 23, 59) })
    expect((await request('/pets/1')).status).toBe(200)
    vi.advanceTimersByTime(60_000)
    expect((await request('/pets/1')).status).toBe(410)
    expect(requests.at(-1)?.time).toBe(Date.UTC(2030, 11, 5))
  })

  test.each(['before the store', 'after the store'])(
    'with `clock: Date`, the store follows mock timers of node:test that are enabled %s',
    async (order) => {
      const start = () => mock.timers.enable({ apis: ['Date'], now: Date.UTC(2030, 11, 4, 23, 59) })
      onTestFinished(() => mock.timers.reset())
      if (order === 'before the store') start()
      const { request } = await createTestPetStore({ clock: Date, pets: [{ name: 'Rex' }] })
      if (order === 'after the store') start()
      expect((await request('/pets/1')).status).toBe(200)
      mock.timers.tick(60_000)
      expect((await request('/pets/1')).status).toBe(410)
    },
  )

  test('the clock advances when the client waits for a retry', async () => {
    const { client, clock } = await createTestPetStore({ clock: manualClock(Date.UTC(2030, 0, 1)) })
    for (let i = 0; i < 61; i++) await client.listPets()
    expect(clock.now()).toBe(Date.UTC(2030, 0, 1, 0, 1))
  })

  test.each([Number.NaN, -6, 253_402_300_800_000, '1 January' as never])('the clock rejects the time %s', (time) => {
    const wrong = expect.objectContaining({ code: 'invalid_option' })
    const clock = manualClock(5)
    expect(() => manualClock(time)).toThrow(wrong)
    expect(() => clock.set(time)).toThrow(wrong)
    expect(() => clock.advance(time)).toThrow(wrong)
    expect(clock.now()).toBe(5)
  })
})

describe('request', () => {
  test('request() follows a Link from page to page', async () => {
    const { request } = await createTestPetStore({ basePath: '/shop/v1' })
    for (let i = 0; i < 3; i++) await request('/pets', { method: 'POST', body: REX })
    const first = await request('/pets?limit=2')
    const [, next = ''] = /<(.+)>/.exec(first.headers.get('link') ?? '') ?? []
    expect(next).toMatch(/^\/shop\/v1\/pets\?/)
    for (const target of [next, `https://pets.example${next}`]) {
      const second = await request(target)
      expect([second.status, await second.json()]).toEqual([200, [expect.objectContaining({ id: 3 })]])
    }
    expect((await request('/shop/pets')).status).toBe(404)
    const { request: atRoot } = await createTestPetStore({ basePath: '/' })
    expect([(await atRoot('/pets')).status, (await atRoot('//x/pets')).status]).toEqual([200, 404])
  })

  test.each(['https://pets.example', 'https://Pets.example/shop/', 'https://pets.example/shop/v1'])(
    'request() follows a Link if publicUrl is %s',
    async (publicUrl) => {
      const { request } = await createTestPetStore({ publicUrl, pets: [{ name: 'Rex' }, { name: 'Ada' }] })
      const [, next = ''] = /<(.+)>/.exec((await request('/pets?limit=1')).headers.get('link') ?? '') ?? []
      expect(next).toMatch(/^https:\/\/pets\.example\/.*\?/)
      const second = await request(next)
      expect([second.status, await second.json()]).toEqual([200, [expect.objectContaining({ name: 'Ada' })]])
    },
  )

  test.each([['pets'], [new URL('http://a/v1/pets')], [new Request('http://a/v1/pets')], [undefined]])(
    'request() rejects %s instead of a path',
    async (path) => {
      const { request } = await createTestPetStore()
      await expect(async () => request(path as string)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringMatching(/^option path: expected a path such as "\/pets", got /),
      })
    },
  )

  test('request() sets Content-Type to JSON by default', async () => {
    const { request } = await createTestPetStore()
    const post = async (body: RequestInit['body'], headers = {}) =>
      (await request('/pets', { method: 'POST', body, headers })).status
    for (const body of [REX, Buffer.from(REX), new Blob([REX])]) expect(await post(body as string)).toBe(201)
    expect(await post(REX, { 'Content-Type': 'text/plain' })).toBe(415)
    expect(await post(new Blob([REX], { type: 'text/csv' }) as never)).toBe(415)
    expect(await post(new FormData() as never)).toBe(415)
    expect(await post(new URLSearchParams('name=Rex') as never)).toBe(415)
    expect((await request('/pets', { headers: { Authorization: 'Bearer nobody' } })).status).toBe(401)
  })
})

describe('fetch', () => {
  const start = async () => {
    const store = await createTestPetStore()
    return { ...store, headers: { authorization: `Bearer ${store.token}`, 'content-type': 'application/json' } }
  }

  test('fetch accepts a string, a URL and a Request', async () => {
    const { fetch, headers } = await start()
    const address = 'https://api.example/v1/pets'
    expect((await fetch(address, { headers, method: 'POST', body: REX })).status).toBe(201)
    expect((await fetch(new URL(address), { headers })).status).toBe(200)
    expect((await fetch(new Request(address, { headers }))).status).toBe(200)
    expect((await fetch(new Request(address), { headers })).status).toBe(200)
  })

  test('fetch can replace the global fetch', async () => {
    const { fetch: stub, headers, requests } = await start()
    vi.stubGlobal('fetch', stub)
    onTestFinished(() => void vi.unstubAllGlobals())
    expect([(await fetch('https://api.example/v1/pets', { headers })).status, requests.length]).toEqual([200, 1])
  })

  test('fetch adds no Authorization header', async () => {
    const { fetch } = await start()
    expect((await fetch('http://localhost/v1/pets')).status).toBe(401)
  })

  test('fetch sets response.url without its fragment', async () => {
    const { fetch } = await start()
    expect((await fetch('http://localhost/v1/pets?limit=1#top')).url).toBe('http://localhost/v1/pets?limit=1')
  })

  test('fetch rejects with the reason of an aborted signal', async () => {
    const { fetch, requests } = await start()
    await expect(fetch('http://localhost/v1/pets', { signal: AbortSignal.abort('stop') })).rejects.toBe('stop')
    expect(requests.length).toBe(0)
  })

  test('fetch rejects if its signal aborts before the store has responded', async () => {
    vi.useFakeTimers()
    const { fetch, headers, faults } = await start()
    faults.storage.delay(1_000)
    const controller = new AbortController()
    const response = fetch('http://localhost/v1/pets', { headers, signal: controller.signal })
    const rejected = expect(response).rejects.toBe('stop')
    await vi.advanceTimersByTimeAsync(500)
    controller.abort('stop')
    await rejected
  })

  test.each(['/v1/pets', 'no address'])('fetch rejects the address %s with a TypeError', async (address) => {
    const { fetch } = await start()
    await expect(fetch(address)).rejects.toThrow(TypeError)
  })
})

describe('faults', () => {
  const start = async () => {
    const errors: unknown[] = []
    const store = await createTestPetStore({ onError: (error) => void errors.push(error) })
    return { ...store, errors, status: async () => (await store.request('/pets')).status }
  }

  test.each(['storage', 'keyStore', 'quota'] as const)('a fault of %s lasts until recover is called', async (port) => {
    const { faults, status, errors } = await start()
    faults[port].fail()
    expect([await status(), await status(), errors.length]).toEqual([503, 503, 2])
    faults[port].recover()
    expect(await status()).toBe(200)
  })

  test('faults do not affect the pets of the store', async () => {
    const { faults, petStore, pets } = await start()
    faults.storage.fail()
    expect(await pets.add({ name: 'Rex', categoryId: 1 })).toMatchObject({ id: 1n })
    expect(await petStore.pets.update(1, { status: 'sold' })).toMatchObject({ status: 'sold' })
    expect(await pets.list()).toHaveLength(1)
  })

  test('if the connection breaks, fetch rejects although the animal is added', async () => {
    const { faults, request, pets, errors, requests } = await start()
    const body = '{"name":"Rex","categoryId":1}'
    const add = () => request('/pets', { method: 'POST', body, headers: { 'idempotency-key': 'order-1' } })
    faults.connection.breakTimes(1)
    await expect(add()).rejects.toThrow(new TypeError('fetch failed'))
    expect(await pets.count()).toBe(1)
    expect((await add()).headers.get('idempotency-replayed')).toBe('true')
    expect(await pets.count()).toBe(1)
    expect(requests.map(({ response }) => response?.status)).toEqual([201, 201])
    expect(errors).toEqual([])
  })

  test('the client adds an animal once although connections break', async () => {
    const { faults, client, requests } = await start()
    faults.connection.breakTimes(3)
    expect(await client.createPet({ name: 'Rex', categoryId: 1n, status: 'available' })).toMatchObject({ id: 1n })
    expect(new Set(requests.map(({ header }) => header('Idempotency-Key'))).size).toBe(1)
    expect((await client.listPets()).pets).toHaveLength(1)
  })

  test('a fault that is set while reset is pending applies after it', async () => {
    const { faults, status, reset } = await start()
    faults.quota.fail()
    const done = reset()
    faults.storage.failTimes(1)
    await done
    expect([await status(), await status()]).toEqual([503, 200])
  })

  test('of two resets at once, the later one counts', async () => {
    const { faults, status, reset, pets, requests } = await start()
    const resets = [reset(), reset()]
    faults.storage.failTimes(1)
    await Promise.all(resets)
    expect([await status(), await status(), requests.length]).toEqual([503, 200, 2])
    expect(await pets.count()).toBe(0)
  })

  test('refuseTimes causes a 429 in the middle of a run, and counts nothing', async () => {
    const { faults, request, clock } = await start()
    clock.set(Date.UTC(2030, 0, 1, 0, 0, 20))
    expect((await request('/pets')).headers.get('x-ratelimit-remaining')).toBe('59')
    faults.quota.refuseTimes(2)
    for (let i = 0; i < 2; i++) {
      const refused = await request('/pets')
      expect(refused.headers.get('retry-after')).toBe('40')
      expect(await refused.json()).toMatchObject({ code: 'rate_limit_exceeded', status: 429 })
      expect([refused.headers.get('x-ratelimit-limit'), refused.headers.get('x-ratelimit-remaining')]).toEqual([
        '60',
        '0',
      ])
    }
    expect((await request('/pets')).headers.get('x-ratelimit-remaining')).toBe('58')
  })

  test('the client waits for the time of a forced 429', async () => {
    const { faults, client, clock } = await start()
    clock.set(Date.UTC(2030, 0, 1, 0, 0, 20))
    await client.listPets()
    faults.quota.refuseTimes(1)
    await client.listPets()
    expect(clock.now()).toBe(Date.UTC(2030, 0, 1, 0, 1))
  })

  test('recover for one operation does not end the faults of the others', async () => {
    const { faults, status } = await start()
    faults.storage.fail()
    faults.for({ operation: 'listPets' }).storage.recover()
    expect(await status()).toBe(503)
    faults.for({ operation: 'listPets' }).storage.fail()
    faults.storage.recover()
    expect(await status()).toBe(200)
    faults.quota.fail()
    faults.recover()
    expect(await status()).toBe(200)
  })

  test('a helper passes on a scope whose members it does not know', async () => {
    const { faults, status } = await start()
    const failFor = (scope: FaultScope) => faults.for(scope).storage.fail()
    failFor({ operation: 'createPet' })
    expect(await status()).toBe(200)
    failFor({ operation: 'listPets' })
    expect(await status()).toBe(503)
  })

  test.each([[[800, 100]], [1.5], [2 ** 31]])('delay rejects %j', async (milliseconds) => {
    const { faults } = await start()
    expect(() => faults.connection.delay(milliseconds as number)).toThrow(
      'option milliseconds: expected a whole number of milliseconds from 0 to 2147483647, or a range such as [100, 800] with the ' +
        'shorter wait first, got ',
    )
  })

  test('a fault for an unknown operation is rejected', async () => {
    const { faults } = await start()
    expect(() => faults.for({})).toThrow(
      'option scope: expected a value for at least one of operation, key, chance, seed, got an object',
    )
    expect(() => faults.for({ operation: 'addPet' as 'createPet' })).toThrow(
      `option operation: expected ${operationNames.join(' or ')}, got the string "addPet"`,
    )
  })

  test('on Node, a fault that breaks the connection closes its socket', async () => {
    const { petStore, token, faults, pets, errors } = await start()
    const server = await serve(petStore, { port: 0 })
    onTestFinished(server.close)
    const client = createPetStoreClient({ baseUrl: `${server.url}/v1`, apiKey: token, retry: false })
    const add = () =>
      client.createPet({ name: 'Rex', categoryId: 1n, status: 'available' }, { idempotencyKey: 'order-1' })
    faults.connection.breakTimes(1)
    await expect(add()).rejects.toMatchObject({ code: 'network_error' })
    expect([await add(), await pets.count(), errors]).toMatchObject([{ id: 1n }, 1, []])
  })

  test.each([0, -1, 1.5, '2'])('failTimes throws if the number of calls is %j', async (times) => {
    const { faults } = await start()
    expect(() => faults.quota.failTimes(times as number)).toThrow(/^option times: /)
  })

  test.each([
    ['key', ''],
    ['key', 'pet_a-token'],
    ['chance', 1.1],
    ['chance', '0.1'],
    ['seed', -1],
    ['seed', 2 ** 32],
    ['sed', 7],
  ])('the scope of a fault with %s %j is rejected', async (name, value) => {
    const { faults } = await start()
    expect(() => faults.for({ [name]: value })).toThrow(new RegExp(`^option ${name}: expected `))
  })

  test('the same seed gives the same failures twice', async () => {
    const run = async (seed: number) => {
      const { faults, request } = await createTestPetStore({ plan: 'business', onError: () => {} })
      faults.for({ chance: 0.3, seed }).storage.fail()
      const statuses = []
      for (let i = 0; i < 50; i++) statuses.push((await request('/pets')).status)
      return statuses
    }
    const first = await run(7)
    expect(new Set(first)).toEqual(new Set([200, 503]))
    expect(await run(7)).toEqual(first)
    expect(await run(8)).not.toEqual(first)
  })

  test('the same seed gives the same random delays of responses twice', async () => {
    vi.useFakeTimers()
    const run = async (seed: number) => {
      const { faults, request } = await createTestPetStore()
      faults.for({ seed }).connection.delay([100, 103])
      const delays = []
      for (let i = 0; i < 40; i++) {
        const before = Date.now()
        const response = request('/pets')
        await vi.runAllTimersAsync()
        expect((await response).status).toBe(200)
        delays.push(Date.now() - before)
      }
      return delays
    }
    const first = await run(7)
    expect(new Set(first)).toEqual(new Set([100, 101, 102, 103]))
    expect(await run(7)).toEqual(first)
    expect(await run(8)).not.toEqual(first)
  })

  test('the option `timeout` does not limit the delay of a response', async () => {
    vi.useFakeTimers()
    const { faults, request, pets } = await createTestPetStore({ timeout: 100 })
    faults.connection.delay(5_000, 1)
    const response = request('/pets', { method: 'POST', body: REX })
    await vi.advanceTimersByTimeAsync(4_999)
    expect(await pets.count()).toBe(1)
    await vi.advanceTimersByTimeAsync(1)
    expect((await response).status).toBe(201)
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each(['storage', 'keyStore', 'quota'] as const)(
    'a delay of %s ends at the time limit of the call',
    async (part) => {
      vi.useFakeTimers()
      const { faults, request, pets } = await createTestPetStore({ timeout: 100, onError: () => {} })
      faults[part].delay(5_000)
      const response = request('/pets', { method: 'POST', body: REX })
      await vi.advanceTimersByTimeAsync(100)
      expect((await response).status).toBe(503)
      expect([await pets.count(), vi.getTimerCount()]).toEqual([0, 0])
    },
  )

  test('a delay of the storage ends when the client disconnects', async () => {
    vi.useFakeTimers()
    const { faults, request, errors, pets } = await start()
    faults.storage.delay(5_000)
    const controller = new AbortController()
    const response = request('/pets', { method: 'POST', body: REX, signal: controller.signal })
    const rejected = expect(response).rejects.toThrow('This operation was aborted')
    await vi.advanceTimersByTimeAsync(50)
    controller.abort()
    await rejected
    await vi.advanceTimersByTimeAsync(0)
    expect([await pets.count(), vi.getTimerCount(), errors]).toEqual([0, 0, []])
  })

  test('the delay of a response ends when the client disconnects', async () => {
    vi.useFakeTimers()
    const { faults, handle, errors } = await start()
    faults.connection.delay(5_000)
    const client = new AbortController()
    const handled = handle({
      method: 'GET',
      target: '/v1/pets',
      header: () => undefined,
      body: async () => new Uint8Array(),
      signal: client.signal,
    })
    await vi.advanceTimersByTimeAsync(1_000)
    client.abort()
    expect((await handled).status).toBe(401)
    expect([vi.getTimerCount(), errors]).toEqual([0, []])
  })

  test.each([
    ['storage', (faults: PartFaults) => faults.storage.fail(), 503],
    ['keyStore', (faults: PartFaults) => faults.keyStore.fail(new Error('own')), 500],
    ['quota', (faults: PartFaults) => faults.quota.refuse(), 429],
    ['connection', (faults: PartFaults) => faults.connection.breakConnections(), 'broken'],
  ] as const)('a fault of %s can affect one key only', async (_, add, expected) => {
    const { faults, keys, fetch, status } = await start()
    const { token, key } = await keys.issue({ plan: 'free' })
    const statusOfOther = () =>
      fetch('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } }).then(
        (response) => response.status,
        () => 'broken',
      )
    add(faults.for({ key: key.id }))
    expect([await status(), await statusOfOther(), await status()]).toEqual([200, expected, 200])
    faults.for({ key: 'key_of_another' }).storage.recover()
    expect(await statusOfOther()).toBe(expected)
    const { storage, keyStore, quota, connection } = faults.for({ key: key.id })
    for (const part of [storage, keyStore, quota, connection]) part.recover()
    expect(await statusOfOther()).toBe(200)
  })

  test.each([[[800, 100]], [[1]], [[1, 2.5]], ['300']])('delay throws if the range is %j', async (milliseconds) => {
    const { faults } = await start()
    expect(() => faults.connection.delay(milliseconds as never)).toThrow(/^option milliseconds(?:\[1\])?: expected /)
  })

  test.each([-1, 0.5, Number.NaN])('delay throws if the number of milliseconds is %j', async (milliseconds) => {
    const { faults } = await start()
    expect(() => faults.quota.delay(milliseconds)).toThrow(/^option milliseconds: /)
  })
})

describe('requests', () => {
  test('the journal records requests with their responses', async () => {
    const { request, requests, clock, token } = await createTestPetStore()
    await request('/pets?limit=5', { headers: { 'X-Trace': 'abc' } })
    await request('/pets', { method: 'POST', body: REX })
    expect(requests).toMatchObject([
      { method: 'GET', path: '/v1/pets?limit=5', body: '', time: clock.now(), response: { status: 200, body: '[]' } },
      { method: 'POST', path: '/v1/pets', body: REX, response: { status: 201, headers: { location: '/v1/pets/1' } } },
    ])
    expect(requests[0]?.header('x-trace')).toBe('abc')
    expect(requests[0]?.header('Authorization')).toBe(`Bearer ${token}`)
  })

  test('the response of a recorded request is undefined until the store responds', async () => {
    vi.useFakeTimers()
    const { request, requests, faults } = await createTestPetStore()
    faults.storage.delay(100)
    const pending = request('/pets')
    await vi.advanceTimersByTimeAsync(50)
    expect(requests).toMatchObject([{ response: undefined }])
    await vi.advanceTimersByTimeAsync(50)
    await pending
    expect(requests).toMatchObject([{ response: { status: 200 } }])
  })

  const ids = (requests: readonly { id: number }[]) => requests.map(({ id }) => id)

  test('each request has a number and its operation, also after a reset', async () => {
    const { request, requests, reset } = await createTestPetStore()
    await request('/pets')
    await request('/nothing')
    expect(requests.map(({ id, operation }) => [id, operation])).toEqual([
      [1, 'listPets'],
      [2, undefined],
    ])
    await reset()
    await request('/pets', { method: 'POST', body: REX })
    expect(requests).toMatchObject([{ id: 3, operation: 'createPet' }])
  })

  test('count returns how many requests fit a filter', async () => {
    const { request, requests } = await createTestPetStore()
    await request('/pets')
    for (const body of [REX, '{}', REX]) await request('/pets', { method: 'POST', body })
    expect([
      requests.count(),
      requests.count({ operation: 'createPet' }),
      requests.count({ operation: 'createPet', status: 201 }),
      requests.count({ status: 201, after: 2 }),
      requests.count({ operation: 'getPet' }),
    ]).toEqual([4, 3, 2, 1, 0])
  })

  test('next returns each request that fits once, and waits for the next one', async () => {
    const { request, requests } = await createTestPetStore()
    const filter = { operation: 'createPet', status: 201 } as const
    const create = (body: string) => request('/pets', { method: 'POST', body })
    const first = requests.next(filter)
    const second = requests.next(filter)
    await request('/pets')
    await create('{}')
    await create(REX)
    expect((await first).id).toBe(3)
    await create(REX)
    expect((await second).id).toBe(4)
    await create(REX)
    expect(ids(await Promise.all([requests.next(filter), requests.next({ after: 1 })]))).toEqual([5, 2])
  })

  test('next returns a request only when the store has responded', async () => {
    vi.useFakeTimers()
    const { request, requests, faults } = await createTestPetStore()
    faults.storage.delay(100)
    const pending = request('/pets')
    let isDone = false
    const next = requests.next().finally(() => {
      isDone = true
    })
    await vi.advanceTimersByTimeAsync(99)
    expect([requests.count(), isDone]).toEqual([1, false])
    await vi.advanceTimersByTimeAsync(1)
    await pending
    expect((await next).response?.status).toBe(200)
  })

  test('next rejects after its timeout, and names the latest requests', async () => {
    vi.useFakeTimers()
    const { request, requests } = await createTestPetStore()
    await request('/pets?limit=1')
    const failure = requests.next({ operation: 'createPet' }, { timeout: 50 }).catch((error) => error)
    await vi.advanceTimersByTimeAsync(50)
    expect(await failure).toMatchObject({
      code: 'request_timeout',
      message:
        'No request that fits {"operation":"createPet"} got a response within 50 ms. The journal ends with GET /v1/pets?limit=1 200.',
    })
    await request('/pets', { method: 'POST', body: REX })
    expect((await requests.next({ operation: 'createPet' }, { timeout: 50 })).id).toBe(2)
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([{}, { timeout: 1_000 }])('the signal of next ends the wait (%j)', async (options) => {
    vi.useFakeTimers()
    const { requests } = await createTestPetStore()
    const controller = new AbortController()
    const next = requests.next({}, { ...options, signal: controller.signal })
    controller.abort('stop')
    await expect(next).rejects.toBe('stop')
    expect(vi.getTimerCount()).toBe(0)
  })

  test.each([
    [{ operation: 'addPet' }, {}, 'operation'],
    [{ status: '201' }, {}, 'status'],
    [{ after: -1 }, {}, 'after'],
    [{ path: '/v1/pets' }, {}, 'path'],
    [{}, { timeout: -1 }, 'timeout'],
    [{}, { signal: 5 }, 'signal'],
  ])('next(%j, %j) rejects a wrong option', async (filter, options, name) => {
    const { requests } = await createTestPetStore()
    const rejected = { code: 'invalid_option', message: expect.stringMatching(`^option ${name}: expected `) }
    await expect(requests.next(filter as object, options as object)).rejects.toMatchObject(rejected)
  })

  test('the journal keeps the last 1,000 requests', async () => {
    const { request, requests } = await createTestPetStore({ plan: 'business' })
    for (let i = 1; i <= 1_003; i++) await request(`/pets?i=${i}`)
    expect([requests.length, requests[0]?.path, requests.at(-1)?.path]).toEqual([
      1_000,
      '/v1/pets?i=4',
      '/v1/pets?i=1003',
    ])
  })
})

describe('reset', () => {
  test('reset restores animals, key, counts and time', async () => {
    const store = await createTestPetStore({ pets: [{ name: 'Rex' }] })
    const { request, client, clock, keys, faults, requests } = store
    const start = clock.now()
    for (let i = 0; i < 130; i++) await request('/pets', { method: 'POST', body: REX })
    expect(await (await request('/pets')).json()).toMatchObject({ code: 'api_key_banned' })
    for (const { id } of await keys.list()) await keys.revoke(id)
    clock.advance(5_000)
    faults.storage.fail()

    await store.reset()

    expect([requests.length, clock.now()]).toEqual([0, start])
    expect((await client.listPets()).pets).toEqual([{ id: 1n, name: 'Rex', categoryId: 1n, status: 'available' }])
    expect(client.rateLimit).toMatchObject({ limit: 60, remaining: 59 })
    expect(await client.createPet({ name: 'Ada', categoryId: 1n, status: 'available' })).toMatchObject({ id: 2n })
    expect((await keys.list()).length).toBe(1)
  })
})

test('petstore-kit/testing can be bundled without fast-check', async () => {
  const bundled = await build({
    entryPoints: ['src/testing/index.ts'],
    alias: { 'fast-check': 'no-such-package' },
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'silent',
  })
  expect(bundled.errors).toEqual([])
})

import { runInNewContext } from 'node:vm'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { PortFault } from '../../src/errors.ts'
import { guardPorts } from '../../src/guard-ports.ts'
import {
  type BackEnd,
  type CallContext,
  createPetStore,
  type ErrorReport,
  type KeyStore,
  memory,
  type PetStorage,
  PetStoreError,
  type PetStoreOptions,
  type QuotaRequest,
  type QuotaStore,
  type ResponseReport,
} from '../../src/index.ts'
import { newToken } from '../../src/keys/token.ts'
import { adapterFunctionsOf } from '../../src/reports/adapter-functions.ts'
import { wrapPort } from '../../src/support/wrap-port.ts'
import { manualClock } from '../../src/testing/index.ts'
import { rateLimit, startApi } from '../support/api.ts'

const SECRET = 'password=hunter2 at 10.0.0.7'
const fail = (error: unknown) => () => {
  throw error
}
const reject = (error: unknown) => () => Promise.reject(error)
const errno = (code: string) => Object.assign(new Error(SECRET), { code })
const never = () => new Promise<never>(() => {})

/** Creates a store in memory, with some functions of its back end replaced. */
function broken(parts: { list?: () => never; find?: () => never; spend?: () => never }, options: PetStoreOptions = {}) {
  const { storage, keyStore, quota } = memory()
  return startApi({
    ...options,
    ...(parts.list && { storage: { ...storage, list: parts.list } }),
    ...(parts.find && { keyStore: { ...keyStore, find: parts.find } }),
    ...(parts.spend && { quota: { ...quota, spend: parts.spend } }),
  })
}

describe('a back end that fails', () => {
  const faults: [string, unknown, number][] = [
    ['an error', new Error(SECRET), 500],
    ['a TypeError', new TypeError(SECRET), 500],
    ['a string', SECRET, 500],
    ['undefined', undefined, 500],
    ['null', null, 500],
    ['an option error', new PetStoreError('invalid_option', SECRET), 500],
    ['service_unavailable', new PetStoreError('service_unavailable', SECRET), 503],
    [
      'service_unavailable of another copy',
      Object.assign(errno('service_unavailable'), { name: 'PetStoreError' }),
      503,
    ],
    ['a refused connection', errno('ECONNREFUSED'), 503],
    ['a reset connection', errno('ECONNRESET'), 503],
    ['an error with a network cause', new Error('query failed', { cause: errno('ETIMEDOUT') }), 503],
    ['an error with several causes', new AggregateError([errno('ECONNREFUSED'), new Error('x')], SECRET), 503],
    [
      'an error with several causes, one of which is null',
      Object.assign(new AggregateError([errno('ECONNREFUSED')]), { cause: null }),
      503,
    ],
    ['a violated constraint', errno('23505'), 500],
    ['a socket of undici that has closed', errno('UND_ERR_SOCKET'), 503],
    ['an unreachable host among several causes', new AggregateError([errno('EHOSTUNREACH')]), 503],
    ['a terminated response of undici', new TypeError('terminated'), 503],
    ['a failed fetch without a code', new TypeError('fetch failed'), 503],
    ['a time limit of AbortSignal', new DOMException('aborted', 'TimeoutError'), 503],
    ['a time limit of AbortSignal as the cause', new Error('x', { cause: new DOMException('x', 'TimeoutError') }), 503],
  ]

  for (const port of ['list', 'find', 'spend'] as const) {
    for (const [how, breaking] of [
      ['throws', fail],
      ['rejects with', reject],
    ] as const) {
      test.each(faults)(
        `hides the error and calls onError in the case "${port} ${how} %s"`,
        async (_, error, status) => {
          const reported: unknown[] = []
          const { send } = await broken({ [port]: breaking(error) }, { onError: (error) => reported.push(error) })
          const got = await send('/v1/pets')
          expect(got.status).toBe(status)
          expect(got.code).toBe(status === 503 ? 'service_unavailable' : 'internal_error')
          expect(got.text).not.toContain('hunter2')
          expect(got.headers.get('retry-after')).toBe(status === 503 ? '5' : null)
          expect(rateLimit(got).limit).toBe(60)
          expect(reported).toEqual([error])
        },
      )
    }
  }

  test.each([
    'pet_not_found',
    'rate_limit_exceeded',
    'missing_api_key',
    'malformed_json',
    'payload_too_large',
  ] as const)('responds with 500 if a back end throws %s', async (code) => {
    const { send } = await broken({ list: fail(new PetStoreError(code, SECRET)) })
    const got = await send('/v1/pets')
    expect(got).toMatchObject({ status: 500, code: 'internal_error' })
    expect(got.text).not.toContain('hunter2')
  })

  test('an error whose causes form a cycle is reported once', async () => {
    const [one, two] = [new Error('one'), new Error('two')] as (Error & { errors?: Error[] })[]
    Object.assign(one as Error, { cause: two, errors: Array(50).fill(two) })
    Object.assign(two as Error, { cause: one, errors: Array(50).fill(one) })
    const reported: unknown[] = []
    const { send } = await broken({ list: fail(one) }, { onError: (error) => reported.push(error) })
    expect((await send('/v1/pets')).status).toBe(500)
    expect(reported).toEqual([one])
  })

  test("the headers state the key's limit while the quota store fails", async () => {
    const { send } = await broken(
      { spend: fail(errno('ECONNREFUSED')) },
      { plans: { free: { perMinute: 7, perDay: 70 } }, anonymous: { perMinute: 3, perDay: 30 } },
    )
    expect(rateLimit(await send('/v1/pets'))).toMatchObject({ limit: 7, remaining: 7 })
  })

  test('responds with 500 if a header, the clock or `error.code` throws', async () => {
    const { petStore } = await startApi({ cors: true })
    const request = { method: 'GET', target: '/v1/pets', header: fail(new Error(SECRET)), body: never }
    expect((await petStore.handle(request)).status).toBe(500)
    const stopped = createPetStore({ clock: { now: fail(new Error(SECRET)) } })
    expect((await stopped.fetch(new Request('http://x/v1/pets'))).status).toBe(500)
    const trap = Object.defineProperty(new Error('x'), 'code', { get: fail(new Error(SECRET)) })
    expect((await (await broken({ list: fail(trap) })).send('/v1/pets')).status).toBe(500)
  })

  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const traps: [string, object][] = [
    ['name', Object.defineProperty(new Error(SECRET), 'name', { get: fail(new Error(SECRET)) })],
    ['code', Object.defineProperty(new Error(SECRET), 'code', { get: fail(new Error(SECRET)) })],
    ['cause', Object.defineProperty(new Error(SECRET), 'cause', { get: fail(new Error(SECRET)) })],
    ['all', revoked.proxy],
  ]
  describe.each(['list', 'find', 'spend'] as const)('an error of %s with a member that cannot be read', (port) => {
    test.each(traps)('responds with 500 if reading this member throws: %s', async (_, trap) => {
      for (const breaking of [fail, reject]) {
        const reported: unknown[] = []
        const options = { onError: (error: unknown) => void reported.push(error), timeout: 1_000 }
        const { send } = await broken({ [port]: breaking(trap) }, options)
        const response = await send('/v1/pets')
        expect(response).toMatchObject({ status: 500, code: 'internal_error' })
        expect(rateLimit(response).limit).toBe(60)
        expect(reported.map((error) => error === trap)).toEqual([true])
      }
    })
  })

  test('responds with 500 if a key has an unknown plan', async () => {
    const reported: unknown[] = []
    const keyStore = { find: () => ({ id: 'ada', plan: 'gold' }) }
    const { send } = await startApi({ keyStore, onError: (error) => reported.push(error) })
    expect((await send('/v1/pets')).status).toBe(500)
    const message = expect.stringContaining('on its plan "gold" in the option plans of createPetStore')
    expect(reported).toEqual([expect.objectContaining({ message })])
  })
})

const rex = { id: 1n, name: 'Rex', categoryId: 1n, status: 'available' } as const

describe('a back end that returns an invalid value', () => {
  const animals: [string, unknown][] = [
    ['a boolean', false],
    ['an empty object', {}],
    ['no id', { name: 'Rex', categoryId: 1n, status: 'available' }],
    ['an id that is text', { ...rex, id: '1' }],
    ['NaN', { ...rex, id: Number.NaN }],
    ['a category that is text', { ...rex, categoryId: 'abc' }],
    ['no name', { ...rex, name: null }],
    ['an unknown status', { ...rex, status: 'lost' }],
    ['no status', { ...rex, status: null }],
  ]
  test.each(animals)('responds with 500 if a storage returns an invalid animal: %s', async (_, animal) => {
    const reported: unknown[] = []
    const storage = { list: () => [rex, animal], get: () => animal, create: () => animal } as never
    const api = await startApi({ storage, onError: (error) => reported.push(error) })
    const responses = [
      await api.send('/v1/pets'),
      await api.send('/v1/pets/1'),
      await api.add('{"name":"a","categoryId":1}'),
    ]
    expect(responses.map(({ status }) => status)).toEqual([500, 500, 500])
    expect(reported).toEqual(
      Array(3).fill(expect.objectContaining({ message: expect.stringMatching(/^storage: expected/) })),
    )
  })

  test.each([
    ['null', null],
    ['nothing', undefined],
    ['an object', { rows: [rex], length: 1 }],
    ['an object', new Set([rex])],
  ])('responds with 500 if list of the storage returns %s', async (came, page) => {
    const reported: unknown[] = []
    const storage = { ...memory().storage, list: () => page } as never
    const { send } = await startApi({ storage, onError: (error) => reported.push(error) })
    expect((await send('/v1/pets')).status).toBe(500)
    expect(reported).toEqual([
      expect.objectContaining({ message: `storage: expected an array from list, got ${came}` }),
    ])
  })

  test('responds with 500 if `list` returns an array with a hole', async () => {
    const storage = { ...memory().storage, list: () => Object.assign([], { 1: rex }) } as never
    expect((await (await startApi({ storage })).send('/v1/pets')).status).toBe(500)
  })

  test('a storage may return numbers instead of bigint', async () => {
    const storage = { ...memory().storage, list: () => [{ ...rex, id: 1, categoryId: 2 }] } as never
    const { text } = await (await startApi({ storage })).send('/v1/pets')
    expect(text).toBe('[{"id":1,"name":"Rex","categoryId":2,"status":"available"}]')
  })

  const count = { granted: true, now: 0, usedInMinute: 1, minuteEndsAt: 60_000, usedInDay: 1, dayEndsAt: 86_400_000 }
  test.each([undefined, {}, count, { ...count, bannedUntil: 0, granted: 1 }])(
    'responds with 500 if spend returns %j',
    async (wrong) => {
      const spend = () => wrong as never
      const { send } = await broken({ spend })
      expect(await send('/v1/pets')).toMatchObject({ status: 500, code: 'internal_error' })
      expect((await (await broken({ spend }, { onQuotaFailure: 'allow' })).send('/v1/pets')).status).toBe(200)
    },
  )

  test.each(Object.keys(count).filter((name) => name !== 'granted'))(
    'responds with 500 if spend returns %s as a string, like some drivers',
    async (name) => {
      const reported: unknown[] = []
      const wrong = { ...count, bannedUntil: 0, [name]: '60000' }
      const { send } = await broken({ spend: () => wrong as never }, { onError: (error) => reported.push(error) })
      expect((await send('/v1/pets')).status).toBe(500)
      const message = 'quota store: expected a QuotaCount from spend and peek, got an object'
      expect(reported).toEqual([expect.objectContaining({ message })])
    },
  )

  const noLimits = [{}, { perMinute: 0, perDay: 1 }, { perMinute: 1, perDay: -3 }, { perMinute: 1.5, perDay: 2 }]
  test.each(noLimits)('responds with 500 if a key has the limits %j', async (limits) => {
    const keyStore = { find: () => ({ id: 'a', plan: 'free', limits: limits as never }) }
    const reported: unknown[] = []
    const { send } = await startApi({ keyStore, onError: (error) => reported.push(error) })
    expect((await send('/v1/pets')).status).toBe(500)
    expect(reported).toEqual([expect.objectContaining({ message: expect.stringContaining('key a: expected limits') })])
  })

  test.each([{}, { account: '' }, { id: '', account: null }])(
    'responds with 500 if a key has no id and no account: %j',
    async (key) => {
      const keyStore = { find: () => ({ plan: 'free', ...key }) as never }
      const reported: unknown[] = []
      const { send } = await startApi({ keyStore, onError: (error) => reported.push(error) })
      expect((await send('/v1/pets')).status).toBe(500)
      expect(reported).toEqual([
        expect.objectContaining({ message: expect.stringContaining('expected a key with an id') }),
      ])
      const ofAcme = { find: () => ({ plan: 'free', account: 'acme' }) as never }
      expect((await (await startApi({ keyStore: ofAcme })).send('/v1/pets')).status).toBe(200)
    },
  )

  test('responds with 500 if the key store fails and reading the client address throws', async () => {
    const { petStore } = await startApi({ keyStore: { find: reject(new Error(SECRET)) } })
    const { status } = await petStore.handle({
      method: 'GET',
      target: '/v1/pets',
      get clientAddress(): string {
        throw new Error(SECRET)
      },
      header: (name) => (name === 'authorization' ? 'Bearer a' : undefined),
      body: async () => new Uint8Array(),
    })
    expect(status).toBe(500)
  })

  test.each(['2031-01-01', 1_924_992_000, Number.NaN, new Date(0)])(
    'the error names the key store if the expiresAt of a key is %j',
    async (expiresAt) => {
      const errors: unknown[] = []
      const keyStore = { find: () => ({ id: 'desk', plan: 'free', expiresAt: expiresAt as number }) }
      const petStore = createPetStore({ keyStore, onError: (error) => void errors.push(error) })
      const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: 'Bearer x' } })
      expect(response.status).toBe(500)
      expect(String(errors[0])).toMatch(
        /^TypeError: key store: expected expiresAt .* milliseconds since the Unix epoch/,
      )
    },
  )

  test('the error names the key store if the access of a key is unknown', async () => {
    const errors: unknown[] = []
    const keyStore = { find: () => ({ id: 'desk', plan: 'free', access: 'readonly' as 'read' }) }
    const petStore = createPetStore({ keyStore, onError: (error) => void errors.push(error) })
    const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: 'Bearer x' } })
    expect(response.status).toBe(500)
    expect(String(errors[0])).toBe(
      `TypeError: key store: expected access of a key to be 'read', 'write' or absent, got the string "readonly"`,
    )
  })

  test.each([true, 'Ada'])('the error names the key store if find returns %j', async (found) => {
    const errors: unknown[] = []
    const keyStore = { find: () => found as never }
    const petStore = createPetStore({ keyStore, onError: (error) => void errors.push(error) })
    const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: 'Bearer x' } })
    expect(response.status).toBe(500)
    expect(String(errors[0])).toMatch(/^TypeError: key store: expected an ApiKey/)
  })

  test('a back end may return promises of another realm', async () => {
    const foreign = <T>(value: T): Promise<T> => runInNewContext('Promise').resolve(value)
    const { storage } = memory()
    const { petStore, token } = await startApi({
      storage: { ...storage, create: (pet) => foreign({ ...pet, id: 7n }) },
    })
    const headers: Record<string, string> = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const { status, body } = await petStore.handle({
      method: 'POST',
      target: '/v1/pets',
      header: (name) => headers[name],
      body: () => foreign(new TextEncoder().encode('{"name":"Rex","categoryId":1}')),
    })
    expect([status, JSON.parse(body).id]).toEqual([201, 7])
  })
})

test("with onQuotaFailure: 'allow', serves and reports a request that cannot be counted", async () => {
  const onError = vi.fn()
  const { send } = await broken({ spend: fail(errno('ECONNREFUSED')) }, { onQuotaFailure: 'allow', onError })
  const got = await send('/v1/pets')
  expect([got.status, rateLimit(got).remaining, onError.mock.calls.length]).toEqual([200, 60, 1])
})

describe('a back end that does not respond', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test.each([
    ['list', 'storage'],
    ['find', 'key store'],
    ['spend', 'quota store'],
  ] as const)('responds with 503 exactly when the timeout of %s ends', async (port, name) => {
    const reported: unknown[] = []
    // This key store needs no hash of the token. A hash takes real time, which fake timers cannot advance.
    const keyStore = { find: () => ({ id: 'key', plan: 'free' }) }
    const options = { keyStore, timeout: 250, onError: (error: unknown) => reported.push(error) }
    const { send } = await broken({ [port]: never }, options)
    const response = send('/v1/pets')
    const settled = vi.fn()
    response.then(settled)
    await vi.advanceTimersByTimeAsync(249)
    expect(settled).not.toHaveBeenCalled()
    await vi.advanceTimersByTimeAsync(1)
    expect(await response).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(reported).toEqual([
      expect.objectContaining({
        cause: expect.objectContaining({ message: `the ${name} did not respond within 250 ms` }),
      }),
    ])
    expect(vi.getTimerCount()).toBe(0)
  })

  test('the signal of a call aborts at its time limit', async () => {
    const contexts: CallContext[] = []
    const keep = (_input: unknown, context?: CallContext) => {
      contexts.push(context as CallContext)
      return new Promise<never>(() => {})
    }
    const backEnd = { ...memory(), storage: { ...memory().storage, list: keep }, quota: { spend: keep } }
    const { storage, quota } = guardPorts(backEnd, { timeout: 250, quotaTimeout: 250 })
    const calls = [
      storage.list({ limit: 1 }, { signal: new AbortController().signal }),
      storage.list({ limit: 1 }),
      quota.spend({} as QuotaRequest),
    ]
    const results = Promise.allSettled(calls)
    // Read one signal before the time limit: every signal must abort, also if a storage first reads it after the limit.
    expect(contexts[0]?.signal?.aborted).toBe(false)
    await vi.advanceTimersByTimeAsync(250)
    for (const { signal } of contexts) expect(signal?.reason).toMatchObject({ code: 'service_unavailable' })
    expect((await results).map(({ status }) => status)).toEqual(Array(3).fill('rejected'))
  })

  test('the signal of a call aborts when its client disconnects', async () => {
    const client = new AbortController()
    let signal: AbortSignal | undefined
    const list = (_input: unknown, context?: CallContext) => {
      signal = context?.signal
      return never()
    }
    const backEnd = { ...memory(), storage: { ...memory().storage, list } }
    void guardPorts(backEnd, { timeout: 250, quotaTimeout: 250 }).storage.list({ limit: 1 }, { signal: client.signal })
    expect(signal?.aborted).toBe(false)
    client.abort('left')
    expect(signal?.reason).toBe('left')
  })

  test('a call has a signal without AbortSignal.any, as in jsdom 20', () => {
    vi.stubGlobal('AbortSignal', class {})
    onTestFinished(() => void vi.unstubAllGlobals())
    const list = (_input: unknown, context?: CallContext) => (context?.signal?.aborted === false ? [] : never())
    const backEnd = { ...memory(), storage: { ...memory().storage, list } }
    const { storage } = guardPorts(backEnd, { timeout: 250, quotaTimeout: 250 })
    expect(storage.list({ limit: 1 }, { signal: new AbortController().signal })).toEqual([])
  })

  test('the signal is aborted if the client has already disconnected', () => {
    let signal: AbortSignal | undefined
    const list = (_input: unknown, context?: CallContext) => {
      signal = context?.signal
      return []
    }
    const backEnd = { ...memory(), storage: { ...memory().storage, list } }
    const guarded = guardPorts(backEnd, { timeout: 250, quotaTimeout: 250 })
    guarded.storage.list({ limit: 1 }, { signal: AbortSignal.abort('left') })
    expect(signal?.reason).toBe('left')
  })

  describe('the context of a call', () => {
    /** Creates a store that writes down what its ports get to know about each request. */
    async function startObserved() {
      const { storage, keyStore } = memory()
      const contexts: [string, CallContext | undefined][] = []
      const note = (name: string, context: CallContext | undefined) => contexts.push([name, context])
      const api = await startApi({
        storage: wrapPort(storage, {
          list: (call, _query, context) => {
            note('list', context)
            return call()
          },
          create: (call, _pet, _options, context) => {
            note('create', context)
            return call()
          },
          get: (call, _id, context) => {
            note('get', context)
            return call()
          },
        }),
        keyStore: wrapPort(keyStore, {
          find: (call, _token, context) => {
            note('find', context)
            return call()
          },
        }),
      })
      const { token, key } = await keyStore.issue({ plan: 'free', account: 'acme' })
      return { ...api, contexts, sent: { token, address: '192.0.2.1' }, key }
    }

    test('tells the storage the address, the operation and the key of each request', async () => {
      const { send, contexts, sent, key } = await startObserved()
      await send('/v1/pets', sent)
      await send('/v1/pets', { ...sent, method: 'HEAD' })
      await send('/v1/pets', { ...sent, body: '{"name":"Rex","categoryId":1}' })
      await send('/v1/pets/1', sent)
      const ofStorage = contexts.filter(([name]) => name !== 'find')
      const seen = ofStorage.map(([name, context]) => [
        name,
        context?.clientAddress,
        context?.operation,
        context?.key?.id,
      ])
      expect(seen).toEqual([
        ['list', '192.0.2.1', 'listPets', key.id],
        ['list', '192.0.2.1', 'listPets', key.id],
        ['create', '192.0.2.1', 'createPet', key.id],
        ['get', '192.0.2.1', 'getPet', key.id],
      ])
    })

    test('tells the key store the address and the operation, but no key', async () => {
      const { send, contexts, sent } = await startObserved()
      await send('/v1/pets', { ...sent, body: '{"name":"Rex","categoryId":1}' })
      await send('/v1/elsewhere', sent)
      const seen = contexts
        .filter(([name]) => name === 'find')
        .map(([, context]) => [context?.clientAddress, context?.operation, context?.key])
      expect(seen).toEqual([
        ['192.0.2.1', 'createPet', undefined],
        ['192.0.2.1', undefined, undefined],
      ])
    })

    test('tells no key and no operation for a call of the host', async () => {
      const { petStore, contexts } = await startObserved()
      const { id } = await petStore.pets.add({ name: 'Rex', categoryId: 1 })
      await petStore.pets.get(id)
      await petStore.pets.list()
      const seen = contexts.map(([name, context]) => [name, context?.operation, context?.key])
      expect(seen).toEqual(['create', 'get', 'list'].map((name) => [name, undefined, undefined]))
    })
  })

  test('a result that is no promise, such as a cached key, starts no timer', async () => {
    const keyStore = { find: () => undefined }
    const ports = guardPorts({ ...memory(), keyStore }, { timeout: 5, quotaTimeout: 5 })
    const finding = ports.keyStore.find('token')
    expect(vi.getTimerCount()).toBe(0)
    await finding
  })

  test('clears the timer of a call that returns in time', async () => {
    const { storage } = memory()
    const { send } = await startApi({ storage: { ...storage, list: async (query) => storage.list(query) } })
    expect((await send('/v1/pets')).status).toBe(200)
    expect(vi.getTimerCount()).toBe(0)
  })

  test("a back end may return a library's own kind of promise", async () => {
    const { quota } = memory()
    const then = (value: unknown) => (next: (value: unknown) => unknown) => Promise.resolve(value).then(next)
    const thenable: QuotaStore = {
      spend: (request) => Object.fromEntries([['then', then(quota.spend(request))]]) as never,
    }
    expect((await (await startApi({ quota: thenable })).send('/v1/pets')).status).toBe(200)
  })
})

/** A call of each method with a context. A method without a call here is a type error. */
const CALLS: { readonly [Name in keyof Methods]: (ports: BackEnd, context: CallContext) => unknown } = {
  list: ({ storage }, context) => storage.list({ limit: 1 }, context),
  create: ({ storage }, context) => storage.create(rex, {}, context),
  get: ({ storage }, context) => storage.get(1n, context),
  update: ({ storage }, context) => storage.update?.(1n, { status: 'sold' }, {}, context),
  remove: ({ storage }, context) => storage.remove?.(1n, {}, context),
  restore: ({ storage }, context) => storage.restore?.([], context),
  count: ({ storage }, context) => storage.count?.('sold', context),
  find: ({ keyStore }, context) => keyStore.find('token', context),
  spend: ({ quota }, context) => quota.spend(SPENDING, context),
  peek: ({ quota }, context) => quota.peek?.(SPENDING, context),
  reset: ({ quota }, context) => quota.reset?.(SPENDING, context),
}
type Methods = Required<PetStorage & KeyStore & QuotaStore>
const SPENDING = { subject: 'a', anonymous: false, limits: { perMinute: 1, perDay: 1 }, ban: false, now: 0 } as const

describe.each(Object.entries(CALLS))('a call of %s', (name, call) => {
  /** Guards a back end whose method calls `run` instead. */
  function guarded(run: (...parameters: never[]) => unknown) {
    const { storage, keyStore, quota } = memory()
    const ports = { storage: { ...storage }, keyStore: { ...keyStore }, quota: { ...quota } }
    const holder = name === 'find' ? ports.keyStore : name in quota ? ports.quota : ports.storage
    Object.assign(holder, { [name]: run })
    return guardPorts(ports, { timeout: 1, quotaTimeout: 1 })
  }

  test('passes on the client, and rejects at the time limit with a signal that is aborted', async () => {
    let context: CallContext | undefined
    const ports = guarded((...parameters) => {
      context = parameters.at(-1)
      return never()
    })
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const calling = expect(call(ports, { clientAddress: '192.0.2.1' })).rejects.toMatchObject({
      code: 'service_unavailable',
    })
    await vi.advanceTimersByTimeAsync(1)
    await calling
    expect([context?.clientAddress, context?.signal?.aborted]).toEqual(['192.0.2.1', true])
  })

  test('translates an error with a code that a port must not throw', async () => {
    const ports = guarded(fail(new PetStoreError('invalid_body')))
    await expect(async () => call(ports, {})).rejects.toThrow(PortFault)
  })
})

describe('observers', () => {
  test('onResponse is called for every response and gets no credentials', async () => {
    const reported: ResponseReport[] = []
    const { send, add, key, token, clock } = await startApi({ onResponse: (report) => reported.push(report) })
    const minuteEndsAt = clock.now() + 60_000
    const rateLimitOf = (remaining: number) => ({ limit: 60, remaining, resetsAt: minuteEndsAt })
    const limitsAfter = (used: number) => ({
      rateLimit: rateLimitOf(60 - used),
      minute: { limit: 60, used, remaining: 60 - used, resetsAt: minuteEndsAt },
      day: { limit: 1_000, used, remaining: 1_000 - used, resetsAt: clock.now() + 86_400_000 },
    })
    await add('{"name":"Rex","categoryId":1}')
    await send('/v1/pets/1?x=1', { address: '192.0.2.1' })
    await send('https://any.example/v1/none', { token: null })
    const known = { keyId: key.id, plan: 'free', replayed: false, durationMs: 0 }
    expect(reported).toEqual([
      { ...known, method: 'POST', target: '/v1/pets', status: 201, operation: 'createPet', ...limitsAfter(1) },
      {
        ...known,
        method: 'GET',
        target: '/v1/pets/1?x=1',
        status: 200,
        operation: 'getPet',
        clientAddress: '192.0.2.1',
        ...limitsAfter(2),
      },
      {
        method: 'GET',
        target: '/v1/none',
        status: 401,
        code: 'missing_api_key',
        replayed: false,
        durationMs: 0,
        rateLimit: rateLimitOf(60),
      },
    ])
    expect(JSON.stringify(reported)).not.toContain(token)
  })

  test('onResponse gets the error code and the account', async () => {
    const reported: unknown[] = []
    const { send, keyStore } = await startApi({
      onResponse: ({ code, account }) => reported.push([code, account]),
      plans: { free: { perMinute: 1, perDay: 9 } },
      ban: { afterRefusals: 2, seconds: 9 },
    })
    const { token } = await keyStore.issue({ plan: 'free', account: 'acme' })
    for (let i = 0; i < 3; i++) await send('/v1/pets', { token })
    expect(reported).toEqual([
      [undefined, 'acme'],
      ['rate_limit_exceeded', 'acme'],
      ['api_key_banned', 'acme'],
    ])
  })

  test('onResponse gets 499 for a disconnected client, and onError is not called', async () => {
    const reports: ResponseReport[] = []
    const errors: unknown[] = []
    const client = new AbortController()
    const find = (_token: string, context?: { signal?: AbortSignal | undefined }) =>
      new Promise<never>((_, reject) => {
        context?.signal?.addEventListener('abort', () => reject(context.signal?.reason))
      })
    const petStore = createPetStore({
      keyStore: { find },
      onError: (error) => void errors.push(error),
      onResponse: (report) => void reports.push(report),
    })
    const response = petStore.fetch(
      new Request('http://a/v1/pets', { headers: { authorization: 'Bearer x' }, signal: client.signal }),
    )
    client.abort()
    await response
    expect([errors, reports.map(({ status }) => status)]).toEqual([[], [499]])
  })

  test('onResponse is told whether the response is a replay', async () => {
    const reported: unknown[] = []
    const { add } = await startApi({
      onResponse: ({ status, code, replayed }) => reported.push([status, code, replayed]),
    })
    const headers = { 'idempotency-key': 'one' }
    for (const name of ['Rex', 'Rex', 'Max']) await add(`{"name":"${name}","categoryId":1}`, { headers })
    expect(reported).toEqual([
      [201, undefined, false],
      [201, undefined, true],
      [422, 'idempotency_key_reused', false],
    ])
  })

  test('durationMs comes from the monotonic clock, with fractions', async () => {
    const durations: number[] = []
    const times = [5, 5.4321987, 7, 7]
    let now = 9_000
    const petStore = createPetStore({
      clock: { now: () => (now -= 1_000), monotonic: () => times.shift() as number },
      onResponse: ({ durationMs }) => void durations.push(durationMs),
    })
    await petStore.fetch('http://localhost/v1/pets')
    await petStore.fetch('http://localhost/v1/pets')
    expect(durations).toEqual([0.432, 0])
  })

  test('durationMs is not negative if a manual clock is set back', async () => {
    const clock = manualClock()
    const durations: number[] = []
    const list = () => {
      clock.advance(2)
      clock.advance(-1_000)
      return []
    }
    const storage = { ...memory().storage, list }
    const { send } = await startApi({ storage, clock, onResponse: ({ durationMs }) => void durations.push(durationMs) })
    await send('/v1/pets')
    expect(durations).toEqual([2])
  })

  test('onError gets method, target, operation and key of the request', async () => {
    const reported: ErrorReport[] = []
    const { send, key } = await broken(
      { list: fail(new Error(SECRET)) },
      { onError: (_, report) => reported.push(report) },
    )
    await send('/v1/pets?limit=3')
    expect(reported).toEqual([{ method: 'GET', target: '/v1/pets?limit=3', operation: 'listPets', keyId: key.id }])
  })

  test('the default of onError logs the notice about trustProxy', () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    adapterFunctionsOf(createPetStore()).reportError(new PetStoreError('untrusted_forwarded_for', 'set trustProxy'), {})
    expect(log.mock.calls).toEqual([['petstore-kit: set trustProxy']])
  })

  test.each([fail, reject])('logs both errors if onError fails: %o', async (failing) => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const [fault, failure] = [new Error('fault'), new Error('onError')]
    const { send } = await broken({ list: fail(fault) }, { onError: failing(failure) })
    expect((await send('/v1/pets')).status).toBe(500)
    expect(log.mock.calls).toEqual([
      [expect.stringContaining('petstore-kit: GET /v1/pets failed: Error: fault\n')],
      [expect.stringContaining('petstore-kit: onError failed: Error: onError\n')],
    ])
  })

  test.each([fail, reject])('onError gets the error of an onResponse that fails: %o', async (failing) => {
    const onError = vi.fn()
    const failure = new Error('onResponse')
    const { send, key } = await startApi({ onError, onResponse: failing(failure) })
    expect((await send('/v1/pets')).status).toBe(200)
    const report = { method: 'GET', target: '/v1/pets', operation: 'listPets', keyId: key.id }
    expect(onError).toHaveBeenCalledExactlyOnceWith(failure, report)
  })

  test('onResponse gets no operation for a path or method that has none', async () => {
    const reported: (string | undefined)[] = []
    const { send } = await startApi({ onResponse: ({ operation }) => reported.push(operation) })
    await send('/v1/pets', { method: 'OPTIONS' })
    await send('/v1/pets', { method: 'PUT' })
    await send('/v1/none')
    await send('/v1/pets/1')
    expect(reported).toEqual([undefined, undefined, undefined, 'getPet'])
  })

  test('onResponse gets the status of a rejected request', async () => {
    const reported: number[] = []
    const petStore = createPetStore({
      keyStore: { find: () => ({ id: 'key', plan: 'free' }) },
      onResponse: ({ status }) => void reported.push(status),
    })
    const headers: Record<string, string> = { authorization: 'Bearer x', 'content-type': 'application/json' }
    const body = reject(new PetStoreError('incomplete_body'))
    const header = (name: string) => headers[name]
    await petStore.handle({ method: 'POST', target: '/v1/pets', header, body })
    expect(reported).toEqual([400])
  })

  test('the core reads the client address once, and the signal only if needed', async () => {
    const keyStore = { find: () => ({ id: 'key', plan: 'free' }) }
    const headers: Record<string, string> = { authorization: 'Bearer x', 'content-type': 'application/json' }
    const [clientAddress, signal] = [vi.fn(() => '192.0.2.1'), vi.fn(() => undefined)]
    const request = {
      method: 'POST',
      target: '/v1/pets',
      header: (name: string) => headers[name],
      body: reject(new PetStoreError('incomplete_body')),
    }
    Object.defineProperty(request, 'clientAddress', { get: clientAddress })
    Object.defineProperty(request, 'signal', { get: signal })
    expect((await createPetStore({ keyStore }).handle(request)).status).toBe(400)
    expect([clientAddress.mock.calls.length, signal.mock.calls.length]).toEqual([1, 0])
    expect((await createPetStore({ keyStore, onResponse: () => {} }).handle(request)).status).toBe(400)
    expect([clientAddress.mock.calls.length, signal.mock.calls.length]).toEqual([2, 1])
  })

  test('masks secrets and escapes hidden characters in a logged error', () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {})
    onTestFinished(() => log.mockRestore())
    const token = newToken()
    const cause = Object.assign(new Error(`\u009b31m${token}`), { detail: token, config: { authorization: token } })
    const error = new AggregateError([cause], 'query failed')
    adapterFunctionsOf(createPetStore()).reportError(error, {
      method: 'GET',
      target: `/v1/\u009b${token}%s?key=my-password`,
    })
    const [[line], ...others] = log.mock.calls as [[string]]
    expect(others).toEqual([])
    expect(line).toMatch(/^petstore-kit: GET \/v1\/\\u009bpet_\*\*\*%s failed: AggregateError: query failed\n/)
    expect(line).toMatch(/\ncaused by Error: \\u009b31mpet_\*\*\*\n/)
    expect(line).toMatch(/\n {4}detail: pet_\*\*\*\n {4}config: an object$/)
  })

  test('reportError calls onError with and without a request', () => {
    const onError = vi.fn()
    const { reportError } = adapterFunctionsOf(createPetStore({ onError }))
    const error = new Error('EMFILE')
    reportError(error, { method: 'GET', target: 'http://shop.example/v1/pets' })
    reportError(error, {})
    expect(onError.mock.calls).toEqual([
      [error, { method: 'GET', target: '/v1/pets' }],
      [error, {}],
    ])
  })
})

test('a method that is replaced in a port later takes effect', async () => {
  const inner = memory().storage
  const storage = { ...inner }
  const { add, send } = await startApi({ storage })
  expect((await add('{"name":"Rex","categoryId":1}')).text).toContain('Rex')
  const ada = { ...rex, name: 'Ada' }
  storage.create = () => ada
  storage.list = () => [ada]
  expect((await add('{"name":"Rex","categoryId":1}')).text).toContain('Ada')
  expect((await send('/v1/pets')).text).toContain('Ada')
})

test('create is called with its storage as `this`', async () => {
  const { storage: inner } = memory()
  class Storage {
    #added = 0
    list = inner.list
    get = inner.get
    create() {
      this.#added += 1
      return { ...rex, name: `Rex ${this.#added}` }
    }
  }
  const { add } = await startApi({ storage: new Storage() })
  expect((await add('{"name":"Rex","categoryId":1}')).text).toContain('Rex 1')
})

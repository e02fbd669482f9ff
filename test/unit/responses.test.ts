import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { createPetStore, memory, type ResponseReport } from '../../src/index.ts'
import { startApi } from '../support/api.ts'

describe('headers of a response', () => {
  test.each(['/v1/pets', '/v1/pets/1', '/nothing'])(
    'the response to %s has X-Content-Type-Options: nosniff',
    async (target) => {
      const { send } = await startApi()
      expect((await send(target)).headers.get('x-content-type-options')).toBe('nosniff')
    },
  )

  test('X-Next-Cursor has the same cursor as Link', async () => {
    const { send, add } = await startApi()
    for (const name of ['a', 'b']) await add(JSON.stringify({ name, categoryId: 1 }))
    const { headers } = await send('/v1/pets?limit=1&status=available')
    const cursor = headers.get('x-next-cursor')
    expect(headers.get('link')).toBe(`</v1/pets?limit=1&status=available&cursor=${cursor}>; rel="next"`)
    const last = await send(`/v1/pets?limit=1&cursor=${cursor}`)
    expect([last.headers.get('x-next-cursor'), last.headers.get('link')]).toEqual([null, null])
  })

  test('Location has the path of a new animal before the removal of getPet', async () => {
    const { add, send, clock } = await startApi()
    const { headers } = await add('{"name":"Rex","categoryId":1}')
    expect(headers.get('location')).toBe('/v1/pets/1')
    expect((await send(headers.get('location') ?? '')).status).toBe(200)
    clock.set(Date.UTC(2030, 11, 5))
    expect((await add('{"name":"Rex","categoryId":1}')).headers.get('location')).toBeNull()
  })

  test('Location begins with the publicUrl', async () => {
    const { add } = await startApi({ publicUrl: 'https://shop.example/shop' })
    const { headers } = await add('{"name":"Rex","categoryId":1}')
    expect(headers.get('location')).toBe('https://shop.example/shop/v1/pets/1')
  })

  test.each([
    ['accept', 'application/json', { 'content-type': 'text/plain' }],
    ['accept-encoding', 'identity', { 'content-type': 'application/json', 'content-encoding': 'gzip' }],
  ])('a 415 has the header %s: %s', async (name, value, headers) => {
    const { add } = await startApi()
    const response = await add('{}', { headers })
    expect([response.status, response.headers.get(name)]).toEqual([415, value])
  })

  test('a 404 outside the base path names the base path', async () => {
    const { send } = await startApi({ basePath: '/shop/v1' })
    expect(await send('/')).toMatchObject({ status: 404, message: expect.stringContaining('/shop/v1/pets') })
  })

  test('a preflight response allows the headers of the option cors.headers', async () => {
    const { send } = await startApi({ cors: { headers: ['traceparent'] } })
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' }
    const { headers: allowed } = await send('/v1/pets', { method: 'OPTIONS', headers })
    expect(allowed.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Idempotency-Key, traceparent',
    )
    expect(allowed.get('access-control-expose-headers')).toContain('X-Next-Cursor')
  })
})

test.each([
  [1_000, 201],
  [1_001, 400],
])('a name of %i characters gets status %i', async (length, status) => {
  const { add } = await startApi()
  const response = await add(JSON.stringify({ name: 'x'.repeat(length), categoryId: 1 }))
  expect(response.status).toBe(status)
  if (status === 400) expect(response.message).toContain('name: expected a string of at most 1000 characters')
})

describe('requests without a valid key', () => {
  test('anonymous clients are counted per IPv6 prefix', async () => {
    const { send } = await startApi({ anonymous: { perMinute: 2, perDay: 9 } })
    const statuses = async (addresses: string[]) =>
      Promise.all(addresses.map(async (address) => (await send('/v1/pets', { token: null, address })).status))
    expect(await statuses(['2001:db8::1', '2001:db8::2', '2001:db8::ff:3'])).toEqual([401, 401, 429])
    expect(await statuses(['2001:db8:0:100::1'])).toEqual([401])
    expect(await statuses(['203.0.113.7', '::ffff:203.0.113.7', '203.0.113.7'])).toEqual([401, 401, 429])
  })

  test('the option ipv6Prefix sets the length of the prefix', async () => {
    const { send } = await startApi({ anonymous: { perMinute: 1, perDay: 9 }, ipv6Prefix: 128 })
    for (const address of ['2001:db8::1', '2001:db8::2'])
      expect((await send('/v1/pets', { token: null, address })).status).toBe(401)
  })
})

describe('a back end that cannot be reached', () => {
  const wrapped = [
    Object.assign(new Error('other side closed'), { code: 'UND_ERR_SOCKET' }),
    Object.assign(new Error('Headers Timeout Error'), { code: 'UND_ERR_HEADERS_TIMEOUT' }),
    new TypeError('terminated'),
    new TypeError('fetch failed'),
    new TypeError('fetch failed', { cause: Object.assign(new Error('x'), { code: 'ECONNREFUSED' }) }),
    new DOMException('The operation was aborted due to timeout', 'TimeoutError'),
    new Error('query failed', { cause: new DOMException('x', 'TimeoutError') }),
    new AggregateError([Object.assign(new Error('x'), { code: 'EHOSTUNREACH' })]),
  ]
  test.each(wrapped.map((error) => [String(error), error] as const))(
    'an unreachable back end causes 503: %s',
    async (_, error) => {
      const down = () => {
        throw error
      }
      const { keyStore, quota, storage } = memory()
      const { token } = await keyStore.issue({ plan: 'free' })
      for (const broken of [
        { keyStore: { find: down } },
        { quota: { spend: down } },
        { storage: { ...storage, list: down } },
      ]) {
        const petStore = createPetStore({ keyStore, quota, storage, onError: () => {}, ...broken })
        const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } })
        expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5'])
      }
    },
  )
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

test('logs an error, without the token, if there is no onError', async () => {
  const log = vi.spyOn(console, 'error').mockImplementation(() => {})
  onTestFinished(() => log.mockRestore())
  const fault = new Error('broken')
  const petStore = createPetStore({
    keyStore: {
      find() {
        throw fault
      },
    },
  })
  await petStore.fetch('http://a/v1/pets?limit=1', { headers: { authorization: 'Bearer secret' } })
  expect(log.mock.calls).toEqual([[expect.stringContaining('petstore-kit: GET /v1/pets failed: Error: broken\n')]])
})

test.each(['2031-01-01', 1_924_992_000, Number.NaN, new Date(0)])(
  'the error names the key store if the expiresAt of a key is %j',
  async (expiresAt) => {
    const errors: unknown[] = []
    const keyStore = { find: () => ({ id: 'desk', plan: 'free', expiresAt: expiresAt as number }) }
    const petStore = createPetStore({ keyStore, onError: (error) => void errors.push(error) })
    const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: 'Bearer x' } })
    expect(response.status).toBe(500)
    expect(String(errors[0])).toMatch(/^TypeError: key store: expected expiresAt .* milliseconds since the Unix epoch/)
  },
)

test.each([true, 'Ada'])('the error names the key store if find returns %j', async (found) => {
  const errors: unknown[] = []
  const keyStore = { find: () => found as never }
  const petStore = createPetStore({ keyStore, onError: (error) => void errors.push(error) })
  const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: 'Bearer x' } })
  expect(response.status).toBe(500)
  expect(String(errors[0])).toMatch(/^TypeError: key store: expected an ApiKey/)
})

describe('issuing a key', () => {
  test('issue rejects an expiresAt in seconds', async () => {
    const { keyStore } = memory()
    const expiresAt = Math.floor(Date.UTC(2031, 0, 1) / 1000)
    await expect(keyStore.issue({ plan: 'free', expiresAt })).rejects.toThrow('milliseconds since the Unix epoch')
  })

  test('issue rejects a plan that the back end does not know', async () => {
    await expect(memory().keyStore.issue({ plan: 'gold' })).rejects.toThrow(
      'option plan: expected one of the plans free, pro, business, unless the key has limits ' +
        '(to add a plan, pass plans: ["gold"] to the back end), got the string "gold"',
    )
    const { keyStore } = memory({ plans: ['gold'] })
    await expect(keyStore.issue({ plan: 'glod' })).rejects.toThrow('one of the plans free, pro, business, gold, unless')
    expect((await keyStore.issue({ plan: 'pro' })).key.plan).toBe('pro')
    expect((await keyStore.issue({ plan: 'gold' })).key.plan).toBe('gold')
  })
})

test.each([
  [{ ipv6Prefix: 31 }, 'ipv6Prefix'],
  [{ cors: { origins: ['https://a.example/'] } }, 'without a trailing slash'],
])('createPetStore rejects the option %j', (options, part) => {
  expect(() => createPetStore(options)).toThrow(part)
})

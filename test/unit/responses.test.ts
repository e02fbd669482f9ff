import { describe, expect, test } from 'vitest'
import { createPetStore, memory, type ResponseReport } from '../../src/index.ts'
import { startApi } from '../support/api.ts'

describe('headers of a response', () => {
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

describe('issuing a key', () => {
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

test.each([true, 'Ada'])('the error names the key store if find returns %j', async (found) => {
  const errors: unknown[] = []
  const keyStore = { find: () => found as never }
  const petStore = createPetStore({ keyStore, onError: (error) => void errors.push(error) })
  const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: 'Bearer x' } })
  expect(response.status).toBe(500)
  expect(String(errors[0])).toMatch(/^TypeError: key store: expected an ApiKey/)
})

import { describe, expect, test, vi } from 'vitest'
import { errorTable } from '../../src/errors.ts'
import { allowOf } from '../../src/http/routes.ts'
import { createPetStore, memory, PetStoreError, type PetStoreOptions } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { rateLimit, startApi } from '../support/api.ts'

const SUNSET = Date.UTC(2030, 11, 5)

describe('routes', () => {
  test.each([
    '/',
    '/v1',
    '/v1/',
    '/pets',
    '/v2/pets',
    '/v1pets',
    '/v1/pets//',
    '//v1/pets',
    '/v1//pets',
    '/v1/pets/1/2',
    '/v1/Pets',
    '/v1/pets/1//',
    '*',
    '',
    'x',
    '/v1/pet%2573',
    '/v1%2Fpets',
    '/v1/../v1/pets',
    '/v1/%2E%2E/v1/pets',
    'xy/v1/pets',
    'x/http://any.example/v1/pets',
    'http://any.example#/v1/pets',
    'http://any.example?/v1/pets',
  ])('the path %s gets 404 route_not_found', async (target) => {
    const { send } = await startApi()
    expect(await send(target)).toMatchObject({ status: 404, code: 'route_not_found' })
  })

  test.each([
    '/v1/pets',
    '/v1/pets/',
    '/v1/pets?',
    '/v1/pets#x',
    '/%76%31/pet%73?limit=1',
    '/%761/%70%65ts',
    'http://any.example/v1/pets',
    'HTTPS://u:p@[::1]:8/v1/pets?limit=1',
  ])('GET %s lists animals', async (target) => {
    const { send } = await startApi()
    expect(await send(target)).toMatchObject({ status: 200, text: '[]' })
  })

  test.each([
    ['DELETE', '/pets'],
    ['PUT', '/pets'],
    ['TRACE', '/pets'],
    ['get', '/pets'],
    ['POST', '/pets/1'],
    ['PATCH', '/pets/'],
  ])('%s %s gets 405 with Allow', async (method, path) => {
    const { send } = await startApi()
    const got = await send(`/v1${path}`, { method })
    expect(got).toMatchObject({ status: 405, code: 'method_not_allowed' })
    expect(got.headers.get('allow')).toBe(allowOf(path))
  })

  test('every path begins with the option basePath', async () => {
    for (const basePath of ['', '/', '/shop/api/v1', '/v1/', "/a-._~!$&'()*+,;=:@"]) {
      const { petStore, send } = await startApi({ basePath })
      expect(petStore.basePath).toBe(basePath.replace(/\/$/, ''))
      expect((await send(`${petStore.basePath}/pets`)).status).toBe(200)
      expect((await send(`/other${petStore.basePath}/pets`)).status).toBe(404)
    }
  })
})

describe('keyStore', () => {
  test('the default key store uses the clock and plans of the store', async () => {
    const plans = { gold: { perMinute: 7, perDay: 9 } }
    const petStore = createPetStore({ clock: manualClock(5), plans })
    const { token, key } = await petStore.keys.issue({ plan: 'gold' })
    const response = await petStore.fetch('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } })
    expect([response.status, response.headers.get('x-ratelimit-limit'), key.createdAt]).toEqual([200, '7', 5])
  })

  test('petStore.keyStore is the key store of the options, with its type', () => {
    const ours = { find: () => ({ id: 'desk', plan: 'free' }), rotate: () => 'rotated' }
    expect(createPetStore({ keyStore: ours }).keyStore).toBe(ours)
    expect(createPetStore({ keyStore: ours }).keyStore.rotate()).toBe('rotated')
  })
})

describe('getPet', () => {
  test.each([
    '0',
    '3',
    '-1',
    'abc',
    '01',
    '-0',
    '+1',
    '1.0',
    '1e0',
    '%2531',
    ':petId',
    '9223372036854775808',
    '-9223372036854775808',
    '9'.repeat(400),
    ' 1',
    '1 ',
  ])('petId %s gets 404 pet_not_found', async (petId) => {
    const { send, add } = await startApi()
    await add('{"name":"Rex","categoryId":1}')
    expect(await send(`/v1/pets/${petId}`)).toMatchObject({ status: 404, code: 'pet_not_found' })
  })

  test('getPet does not look up an id that is not an integer', async () => {
    const get = vi.fn()
    const { send } = await startApi({ storage: { ...memory().storage, get } })
    expect((await send('/v1/pets/abc')).status).toBe(404)
    expect(get).not.toHaveBeenCalled()
  })
})

describe('the removal of getPet', () => {
  const toPet = { deprecation: '@1764892800', sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' }
  const link = '</v1/pets>; rel="successor-version"'
  const allow = 'GET, HEAD, OPTIONS'

  /** Requests of the page `docs/behaviour.md`, with what it says about their responses. */
  const requests = [
    { method: 'GET', path: '/pets/1', before: 200, after: 410, headers: { ...toPet, link } },
    { method: 'HEAD', path: '/pets/1', before: 200, after: 410, headers: { ...toPet, link } },
    { method: 'GET', path: '/pets/999', before: 404, after: 410, headers: { ...toPet, link } },
    { method: 'GET', path: '/pets/x', before: 404, after: 410, headers: { ...toPet, link } },
    { method: 'GET', path: '/pets/1', token: 'wrong', before: 401, after: 401, headers: { ...toPet, link } },
    { method: 'PUT', path: '/pets/1', before: 405, after: 405, headers: { allow } },
    { method: 'OPTIONS', path: '/pets/1', before: 204, after: 204, headers: { allow } },
    { method: 'GET', path: '/pets', before: 200, after: 200, headers: {} },
  ]

  test.each([
    [undefined, false],
    ['enforce', false],
    ['announce', true],
  ] as const)('happens as docs/behaviour.md says, with the option sunset %j', async (sunset, isKept) => {
    const { send, add, clock } = await startApi({ clock: manualClock(SUNSET - 1), sunset })
    const expectResponses = async (isRemoved: boolean) => {
      for (const { method, path, token, before, after, headers } of requests) {
        const got = await send(`/v1${path}`, { method, ...(token && { token }) })
        const received = ['deprecation', 'sunset', 'link', 'allow'].flatMap((name) => {
          const value = got.headers.get(name)
          return value === null ? [] : [[name, value]]
        })
        const { status, code, message } = got
        expect([method, path, status, Object.fromEntries(received)]).toEqual([
          method,
          path,
          isRemoved ? after : before,
          headers,
        ])
        if (status !== 410 || method !== 'GET') continue
        expect(code).toBe('operation_removed')
        expect(message).toBe('This operation was removed on 5 December 2030: use GET /pets instead.')
      }
      const { headers } = await add('{"name":"Rex","categoryId":1}')
      expect(headers.has('location')).toBe(!isRemoved)
    }
    await add('{"name":"Rex","categoryId":1}')
    await expectResponses(false)
    clock.advance(1)
    await expectResponses(!isKept)
  })

  test('its 410 is counted, and its report names the operation and the key', async () => {
    const onResponse = vi.fn()
    const plans = { free: { perMinute: 1, perDay: 9 } }
    const { send, key } = await startApi({ clock: manualClock(SUNSET), plans, onResponse })
    expect([(await send('/v1/pets/1')).status, (await send('/v1/pets/1')).status]).toEqual([410, 429])
    expect(onResponse.mock.calls[0]?.[0]).toMatchObject({ status: 410, operation: 'getPet', keyId: key.id })
  })
})

describe('Location', () => {
  test('is the path of the new animal', async () => {
    const { add, send } = await startApi()
    const { headers } = await add('{"name":"Rex","categoryId":1}')
    expect(headers.get('location')).toBe('/v1/pets/1')
    expect((await send('/v1/pets/1')).status).toBe(200)
  })

  test('begins with the publicUrl', async () => {
    const { add } = await startApi({ publicUrl: 'https://shop.example/shop' })
    const { headers } = await add('{"name":"Rex","categoryId":1}')
    expect(headers.get('location')).toBe('https://shop.example/shop/v1/pets/1')
  })
})

describe('fetch', () => {
  test('needs no `this`, and ignores extra arguments', async () => {
    const { petStore, token } = await startApi()
    const { fetch } = petStore as { fetch: (...args: unknown[]) => Promise<Response> }
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(new Request('http://x/v1/pets', { headers }), { env: 1 }, { waitUntil: () => {} })
    expect([response.status, await response.text()]).toEqual([200, '[]'])
    expect(response.headers.get('content-type')).toBe('application/json')
    const head = await petStore.fetch(new Request('http://x/v1/pets', { method: 'HEAD', headers }))
    expect([head.status, await head.text()]).toEqual([200, ''])
    expect((await petStore.fetch(new Request('http://x/v1/pets', { method: 'OPTIONS', headers }))).status).toBe(204)
  })
})

describe('readOnly', () => {
  test('a create gets 503 with Retry-After, and is counted and not reported as a fault', async () => {
    const onError = vi.fn()
    const { petStore, add, send } = await startApi({ readOnly: true, onError })
    const refused = await add('{"name":"Rex","categoryId":1}')
    expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(refused.message).toBe('The store is read-only for a while: send the request again later.')
    expect(refused.headers.get('retry-after')).toBe('5')
    expect(rateLimit(refused).remaining).toBe(59)
    expect(onError).not.toHaveBeenCalled()
    await petStore.pets.add({ name: 'Rex', categoryId: 1 })
    expect(await send('/v1/pets')).toMatchObject({ status: 200, json: [{ id: 1, name: 'Rex' }] })
  })
})

describe('a key that may only read', () => {
  async function startReader(options: PetStoreOptions = {}) {
    const keyStore = { find: () => ({ id: 'key_a', plan: 'free', access: 'read' as const }) }
    return startApi({ keyStore, ...options })
  }

  test('may list and get, and each create gets 403 and is counted', async () => {
    const { petStore, add, send } = await startReader()
    await petStore.pets.add({ name: 'Rex', categoryId: 1 })
    for (const path of ['/v1/pets', '/v1/pets/1']) expect((await send(path)).status).toBe(200)
    const refused = await add('{"name":"Rex","categoryId":1}')
    expect(refused.json).toEqual({
      code: 'read_only_key',
      message: 'The API key may only read: this request needs a key that may also write.',
      status: 403,
    })
    expect(refused.headers.get('www-authenticate')).toBeNull()
    expect(rateLimit(refused).remaining).toBe(57)
  })

  test('gets 403 before the body is read and before the 503 of a read-only store', async () => {
    const { petStore } = await startReader({ readOnly: true })
    const body = vi.fn()
    const header = (name: string) => (name === 'authorization' ? 'Bearer x' : undefined)
    expect((await petStore.handle({ method: 'POST', target: '/v1/pets', header, body })).status).toBe(403)
    expect(body).not.toHaveBeenCalled()
  })

  test('gets 404 and 405 like any other key', async () => {
    const { send } = await startReader()
    expect((await send('/v1/dogs', { method: 'POST' })).status).toBe(404)
    expect((await send('/v1/pets', { method: 'DELETE' })).status).toBe(405)
  })
})

describe('CORS', () => {
  const preflight = (origin: string) => ({
    method: 'OPTIONS',
    token: null,
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization' },
  })

  test('a preflight needs no key and is not counted', async () => {
    const { send } = await startApi({ cors: true })
    const got = await send('/v1/pets', preflight('https://shop.example'))
    expect(got.status).toBe(204)
    expect(Object.fromEntries(got.headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': allowOf('/pets'),
      'access-control-allow-headers': 'Authorization, Content-Type, Idempotency-Key',
      'access-control-max-age': '600',
    })
    expect(got.headers.has('access-control-allow-credentials')).toBe(false)
    expect(rateLimit(got).remaining).toBe(60)
    const { headers } = preflight('https://shop.example')
    expect((await send('/v1/pets', { headers })).status).toBe(200)
    expect(
      (await send('/v1/pets/1', preflight('https://shop.example'))).headers.get('access-control-allow-methods'),
    ).toBe(allowOf('/pets/1'))
  })

  test('exposes the rate-limit and Link headers to browsers, on errors too', async () => {
    const { send } = await startApi({ cors: true })
    for (const got of [await send('/v1/pets'), await send('/v1/pets', { token: null })]) {
      expect([got.headers.get('access-control-allow-origin'), got.headers.get('vary')]).toEqual(['*', null])
      for (const name of [
        'X-RateLimit-Limit',
        'X-RateLimit-Remaining',
        'X-RateLimit-Reset',
        'Retry-After',
        'Link',
        'Deprecation',
        'Sunset',
      ]) {
        expect(got.headers.get('access-control-expose-headers')).toContain(name)
      }
    }
  })

  test('with cors.credentials, listed origins may send cookies', async () => {
    const { send } = await startApi({ cors: { origins: ['https://shop.example'], credentials: true } })
    const sent = (origin: string) => [preflight(origin), { headers: { origin } }]
    for (const init of sent('https://shop.example')) {
      const { headers } = await send('/v1/pets', init)
      expect(headers.get('access-control-allow-credentials')).toBe('true')
      expect(headers.get('access-control-allow-origin')).toBe('https://shop.example')
    }
    for (const init of sent('https://other.example'))
      expect((await send('/v1/pets', init)).headers.has('access-control-allow-credentials')).toBe(false)
  })

  test('a preflight response has the values of the options cors.headers and cors.maxAgeSeconds', async () => {
    const { send } = await startApi({ cors: { headers: ['traceparent'], maxAgeSeconds: 5 } })
    const headers = { origin: 'https://shop.example', 'access-control-request-method': 'GET' }
    const { headers: allowed } = await send('/v1/pets', { method: 'OPTIONS', headers })
    expect(allowed.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Idempotency-Key, traceparent',
    )
    expect(allowed.get('access-control-max-age')).toBe('5')
    expect(allowed.get('access-control-expose-headers')).toContain('X-Next-Cursor')
  })

  test('a response has no CORS header without the option', async () => {
    const { send } = await startApi()
    expect((await send('/v1/pets', preflight('https://shop.example'))).status).toBe(401)
    expect(
      (await send('/v1/pets', { headers: { origin: 'https://shop.example' } })).headers.has(
        'access-control-allow-origin',
      ),
    ).toBe(false)
  })
})

test('treats undefined members of cors and ban as left out', async () => {
  const plans = { free: { perMinute: 1, perDay: 9 } }
  const { send } = await startApi({
    cors: { origins: undefined, maxAgeSeconds: undefined },
    ban: { afterRefusals: undefined, seconds: undefined },
    plans,
  })
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
  const preflight = await send('/v1/pets', { method: 'OPTIONS', headers })
  expect(preflight.headers.get('access-control-allow-origin')).toBe('*')
  expect(preflight.headers.get('access-control-max-age')).toBe('600')
  for (let i = 0; i < 2; i++) await send('/v1/pets')
  const banned = await send('/v1/pets')
  expect([banned.code, banned.headers.get('retry-after')]).toEqual(['api_key_banned', '300'])
})

test('responds to a preflight of an unknown path', async () => {
  const { send } = await startApi({ cors: true })
  const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' }
  const got = await send('/v1/none', { method: 'OPTIONS', token: null, headers })
  expect([got.status, got.headers.get('access-control-allow-methods')]).toEqual([204, 'OPTIONS'])
})

test.each(Object.entries(errorTable))('the message of the error %s is a sentence', (code, entry) => {
  expect(entry.message).toMatch(/^[A-Z].+\.$/)
  expect(new PetStoreError(code as keyof typeof errorTable)).toMatchObject(entry)
})

test.each<Record<string, string>>([{}, { origin: 'https://a.example' }, { 'access-control-request-method': 'GET' }])(
  'counts an OPTIONS request that is no preflight: %j',
  async (headers) => {
    const { send } = await startApi({ cors: true })
    expect((await send('/v1/pets', { method: 'OPTIONS', token: null, headers })).status).toBe(401)
    const got = await send('/v1/pets', { method: 'OPTIONS', headers })
    expect([got.status, got.headers.get('access-control-max-age'), rateLimit(got).remaining]).toEqual([204, null, 59])
  },
)

test('the default clock follows fake timers', async () => {
  const backEnd = memory()
  const { token } = await backEnd.keyStore.issue({ plan: 'free' })
  const petStore = createPetStore(backEnd)
  const ask = () => petStore.fetch(new Request('http://x/v1/pets/1', { headers: { authorization: `Bearer ${token}` } }))
  vi.useFakeTimers({ toFake: ['Date'], now: SUNSET - 1 })
  try {
    const response = await ask()
    expect([response.status, response.headers.get('x-ratelimit-reset')]).toEqual([404, String(SUNSET / 1000)])
    expect((await backEnd.keyStore.issue({ plan: 'free' })).key.createdAt).toBe(SUNSET - 1)
    vi.setSystemTime(SUNSET)
    expect((await ask()).status).toBe(410)
  } finally {
    vi.useRealTimers()
  }
  const reset = Number((await ask()).headers.get('x-ratelimit-reset'))
  // Although the clock has stepped back by years, the reported window ends within two days.
  expect(Math.abs(reset - Date.now() / 1000)).toBeLessThan(2 * 86_400)
})

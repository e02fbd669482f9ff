import { describe, expect, test, vi } from 'vitest'
import {
  type Admission,
  type ApiKey,
  createPetStore,
  memory,
  PetStoreError,
  type PetStoreOptions,
  type ResponseReport,
} from '../../src/index.ts'
import { createTestPetStore, manualClock } from '../../src/testing/index.ts'
import { within } from '../support/deadline.ts'

const LIMITS = ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset']

/** Creates a store with one key whose limit is two requests per minute. */
async function startStore(options: PetStoreOptions = {}) {
  const clock = manualClock(Date.UTC(2030, 0, 1, 0, 0, 30))
  const backEnd = memory({ clock })
  const limits = { perMinute: 2, perDay: 100 }
  const { token, key } = await backEnd.keyStore.issue({ plan: 'enterprise', account: 'acme', limits })
  const reports: ResponseReport[] = []
  const errors: unknown[] = []
  const petStore = createPetStore({
    ...backEnd,
    clock,
    anonymous: limits,
    onResponse: (report) => reports.push(report),
    onError: (error) => errors.push(error),
    ...options,
  })
  const requestTo = (path: string, sent: string | null = token, init: RequestInit = {}) =>
    new Request(
      `http://localhost${path}`,
      sent === null ? init : { ...init, headers: { authorization: `Bearer ${sent}` } },
    )
  return { petStore, token, key, clock, reports, errors, requestTo }
}

/** Returns the response of a refusal as plain values. */
async function refusalOf({ response }: Admission) {
  if (!response) throw new Error('expected a refusal')
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() }
}

describe('an admitted request', () => {
  test('gives the key and the rate-limit headers', async () => {
    const { petStore, key, clock, requestTo, reports } = await startStore()
    const { key: found, headers, response } = await petStore.admit(requestTo('/orders'))
    expect([found, response]).toEqual([key, undefined])
    expect(Object.fromEntries(headers as Headers)).toEqual({
      'x-ratelimit-limit': '2',
      'x-ratelimit-remaining': '1',
      'x-ratelimit-reset': String((clock.now() + 30_000) / 1_000),
    })
    expect(reports).toEqual([])
  })

  test('is counted together with the requests of the API', async () => {
    const { petStore, requestTo } = await startStore()
    await petStore.fetch(requestTo('/v1/pets'))
    const { headers } = await petStore.admit(requestTo('/orders'))
    expect(headers?.get('x-ratelimit-remaining')).toBe('0')
    expect((await petStore.fetch(requestTo('/v1/pets'))).status).toBe(429)
  })

  test('keeps its body', async () => {
    const { petStore, requestTo } = await startStore()
    const request = requestTo('/orders', undefined, { method: 'POST', body: 'two cats' })
    await petStore.admit(request)
    expect(await request.text()).toBe('two cats')
  })
})

describe('a refused request', () => {
  const broken = () => Promise.reject(new PetStoreError('service_unavailable'))
  const refusing = () => {
    throw new PetStoreError('account_suspended', 'Pay the invoice.', { status: 403 })
  }
  const refusals: readonly [
    name: string,
    status: number,
    options: PetStoreOptions,
    token?: string | null,
    method?: string,
  ][] = [
    ['without a key', 401, {}, null],
    ['with an unknown key', 401, {}, 'x'],
    ['with a key that the key store rejects', 403, { keyStore: { find: refusing } }],
    ['while the key store fails', 503, { keyStore: { find: broken } }],
    ['while the quota store fails', 503, { quota: { spend: broken } }],
    ['with a key of an unknown plan', 500, { keyStore: { find: () => ({ id: 'key_a', plan: 'gold' }) } }],
    ['of another origin', 401, { cors: true }, null],
    ['with HEAD', 401, {}, null, 'HEAD'],
  ]

  test.each(refusals)('%s gets the response of the API', async (_, status, options, token, method = 'GET') => {
    const { petStore: other, requestTo: requestToOther } = await startStore(options)
    const ofApi = await other.fetch(requestToOther('/v1/pets', token, { method }))
    const { petStore, requestTo } = await startStore(options)
    const refusal = await refusalOf(await petStore.admit(requestTo('/orders', token, { method })))
    const expected = { status, headers: Object.fromEntries(ofApi.headers), text: await ofApi.text() }
    expect(refusal).toEqual(expected)
    expect(Object.keys(refusal.headers)).toEqual(expect.arrayContaining(LIMITS))
  })

  test('gets 429 over the limit, and then a ban', async () => {
    const { petStore, requestTo } = await startStore({ ban: { afterRefusals: 2, seconds: 60 } })
    for (let i = 0; i < 2; i++) expect((await petStore.admit(requestTo('/orders'))).key).toBeDefined()
    expect(await refusalOf(await petStore.admit(requestTo('/orders')))).toMatchObject({
      status: 429,
      headers: { 'retry-after': '30', 'x-ratelimit-remaining': '0' },
    })
    expect((await refusalOf(await petStore.admit(requestTo('/orders')))).text).toContain('api_key_banned')
    expect((await petStore.fetch(requestTo('/v1/pets'))).status).toBe(429)
  })

  test('is read to the end, because an unread body would block the next request of the connection', async () => {
    const { petStore, requestTo } = await startStore()
    const isRead = new Promise<void>((resolve) => {
      const pull = (controller: ReadableStreamDefaultController) => resolve(controller.close())
      const body = new ReadableStream({ pull }, { highWaterMark: 0 })
      const upload = requestTo('/orders', null, { method: 'POST', body, duplex: 'half' } as RequestInit)
      void petStore.admit(upload)
    })
    await within(isRead, 'read of the body')
  })

  test('is counted by its address, if it has no valid key', async () => {
    const { petStore, requestTo } = await startStore()
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) {
      const { status } = await refusalOf(await petStore.admit(requestTo('/orders', null), '192.0.2.1'))
      statuses.push(status)
    }
    const { status } = await refusalOf(await petStore.admit(requestTo('/orders', null), null))
    expect([...statuses, status]).toEqual([401, 401, 429, 401])
  })

  test('is reported like a response of the API, without an operation', async () => {
    const { petStore, requestTo, reports } = await startStore()
    await petStore.admit(requestTo('/v1/pets?a=b', null), '192.0.2.1')
    expect(reports).toMatchObject([
      { method: 'GET', target: '/v1/pets?a=b', status: 401, code: 'missing_api_key', clientAddress: '192.0.2.1' },
    ])
    expect(reports[0]?.operation).toBeUndefined()
  })

  test('is reported with the fault of a back end', async () => {
    const { petStore, requestTo, errors } = await startStore({ quota: { spend: broken } })
    await petStore.admit(requestTo('/orders'))
    expect(errors).toMatchObject([{ code: 'service_unavailable' }])
  })
})

describe('the option count', () => {
  test('false counts nothing, and still refuses over the limit', async () => {
    const { petStore, requestTo } = await startStore()
    for (const remaining of ['2', '2']) {
      const { headers } = await petStore.admit(requestTo('/status'), null, { count: false })
      expect(headers?.get('x-ratelimit-remaining')).toBe(remaining)
    }
    for (let i = 0; i < 2; i++) await petStore.fetch(requestTo('/v1/pets'))
    expect(await refusalOf(await petStore.admit(requestTo('/status'), null, { count: false }))).toMatchObject({
      status: 429,
      headers: { 'retry-after': '30' },
    })
  })

  test('false adds nothing to the refusals that lead to a ban', async () => {
    const { petStore, requestTo } = await startStore({ ban: { afterRefusals: 2, seconds: 60 } })
    for (let i = 0; i < 2; i++) await petStore.fetch(requestTo('/v1/pets'))
    for (let i = 0; i < 2; i++) await petStore.admit(requestTo('/status'), null, { count: false })
    expect((await refusalOf(await petStore.admit(requestTo('/status')))).text).toContain('rate_limit_exceeded')
  })

  test('false needs a quota store with peek', async () => {
    const { petStore, requestTo, errors } = await startStore({ quota: { spend: memory().quota.spend } })
    expect((await refusalOf(await petStore.admit(requestTo('/status'), null, { count: false }))).status).toBe(500)
    expect(errors).toMatchObject([{ code: 'usage_not_supported' }])
  })
})

describe('the option access', () => {
  const reader: ApiKey = { id: 'key_a', plan: 'free', access: 'read' }
  const methods = { GET: undefined, HEAD: undefined, OPTIONS: undefined, POST: 403, PUT: 403, PATCH: 403, DELETE: 403 }

  test.each(Object.entries(methods))('by default, %s with a key that may only read gets %s', async (method, status) => {
    const { petStore, requestTo } = await startStore({ keyStore: { find: () => reader } })
    const { response } = await petStore.admit(requestTo('/orders', 'x', { method }))
    expect(response?.status).toBe(status)
  })

  test('decides whether a key that may only read suffices', async () => {
    const { petStore, requestTo, reports } = await startStore({ keyStore: { find: () => reader } })
    const search = requestTo('/search', 'x', { method: 'POST' })
    expect((await petStore.admit(search, null, { access: 'read' })).key).toEqual(reader)
    const refusal = await refusalOf(await petStore.admit(requestTo('/export', 'x'), null, { access: 'write' }))
    expect(refusal).toMatchObject({ status: 403, headers: { 'x-ratelimit-remaining': '58' } })
    expect(reports).toMatchObject([{ code: 'read_only_key', keyId: 'key_a' }])
  })

  test('does not matter for a key that may write', async () => {
    const { petStore, requestTo } = await startStore({ keyStore: { find: () => ({ ...reader, access: 'write' }) } })
    expect((await petStore.admit(requestTo('/orders', 'x', { method: 'DELETE' }))).response).toBeUndefined()
  })
})

test.each([true, false])(
  'with onQuotaFailure allow, requests are admitted while the quota store fails',
  async (count) => {
    const fail = () => Promise.reject(new Error('down'))
    const { petStore, requestTo, errors } = await startStore({
      quota: { spend: fail, peek: fail },
      onQuotaFailure: 'allow',
    })
    for (let i = 0; i < 3; i++) expect((await petStore.admit(requestTo('/orders'), null, { count })).key).toBeDefined()
    expect(errors).toMatchObject([{ message: 'down' }])
  },
)

test('two stores with one back end share the counts', async () => {
  const backEnd = memory()
  const { token } = await backEnd.keyStore.issue({ plan: 'free' })
  const request = new Request('http://localhost/orders', { headers: { authorization: `Bearer ${token}` } })
  const remaining: (string | null | undefined)[] = []
  for (let i = 0; i < 4; i++)
    remaining.push((await createPetStore(backEnd).admit(request)).headers?.get('x-ratelimit-remaining'))
  expect(remaining).toEqual(['59', '58', '57', '56'])
})

test('the test store admits requests with its key, and fails with its faults', async () => {
  const { petStore, token, faults, reset } = await createTestPetStore({ onError: vi.fn() })
  const request = new Request('http://localhost/orders', { headers: { authorization: `Bearer ${token}` } })
  expect((await petStore.admit(request)).key).toMatchObject({ plan: 'free' })
  faults.quota.failTimes(1)
  expect((await petStore.admit(request)).response?.status).toBe(503)
  await reset()
  expect((await petStore.admit(request)).headers?.get('x-ratelimit-remaining')).toBe('59')
})

test.each([
  [['http://localhost/orders'], 'option request: expected a Request, got the string "http://localhost/orders"'],
  [[new Request('http://a'), { count: false }], 'the options are the third argument'],
  [[new Request('http://a'), null, { counts: false }], 'did you mean count?'],
  [[new Request('http://a'), null, { access: 'readonly' }], 'option access: expected read or write'],
])('rejects the arguments %j', async (parameters, message) => {
  const { petStore } = await startStore()
  const admit = petStore.admit as (...parameters: unknown[]) => Promise<unknown>
  await expect(admit(...parameters)).rejects.toThrow(message)
})

import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { addDemoPets } from '../../../../adapters/cli/pets/demo-pets.ts'
import { fixedKeys } from '../../../../adapters/cli/serve/fixed-keys.ts'
import { createControlApi } from '../../../../adapters/cli/test-double/api.ts'
import { operations } from '../../../../adapters/cli/test-double/operations.ts'
import { createTestDouble, steerableClock } from '../../../../adapters/cli/test-double/test-double.ts'
import { createPetStore, toApiRequest } from '../../../../src/index.ts'
import { operationNames } from '../../../../src/operations.ts'
import { manualClock } from '../../../../src/testing/index.ts'
import type { Fault } from '../../../../src/testing/store/fault-list.ts'

const START = Date.UTC(2027, 0, 15, 12)

/** Starts a test double. Returns functions that send requests to its pet store and to its control API. */
async function open(host = '127.0.0.1', faults: readonly Fault[] = []) {
  const known = fixedKeys([{ plan: 'free', token: 'my-token' }], { free: { perMinute: 3, perDay: 10 } })
  const double = await createTestDouble({
    createService(ports, clock) {
      const petStore = createPetStore({ ...ports, clock, requestId: true, onError: () => {} })
      return { petStore, pets: petStore.pets, usageOf: async () => undefined, keyOf: () => undefined }
    },
    addPets: (storage) => addDemoPets(storage, 0, 3),
    keys: known,
    clock: manualClock(START),
    faults,
  })
  const { handle } = createControlApi(double, { secret: 'of-this-run', host })
  const control = async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    base = '/of-this-run',
  ) => {
    const init = { method, headers: { host: '127.0.0.1:1', ...headers } }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const url = `http://127.0.0.1:1${base}${path}`
    const request = new Request(url, body === undefined ? init : { ...init, body: text })
    const response = await handle(toApiRequest(request, host === '127.0.0.1' ? host : '10.0.0.7'))
    return { status: response.status, body: response.body === '' ? undefined : JSON.parse(response.body) }
  }
  const send = async (path: string, token = 'my-token', init: RequestInit = {}) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await double.petStore.fetch(new Request(`http://a/v1${path}`, { headers, ...init }))
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  return { control, send, double }
}

describe('the OpenAPI document', () => {
  test('the OpenAPI document is valid and lists every operation', async () => {
    const { control } = await open()
    const { status, body } = await control('GET', '/openapi.json')
    const { valid, errors } = await new Validator().validate(body)
    expect({ status, valid, errors }).toMatchObject({ status: 200, valid: true })
    expect(body).toMatchObject({ servers: [{ url: 'http://127.0.0.1:1/of-this-run' }], security: [] })
    const listed = Object.entries(body.paths as Record<string, object>).flatMap(([path, item]) =>
      Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
    )
    expect(listed.sort()).toEqual(operations.map(({ method, path }) => `${method} ${path}`).sort())
  })

  test('the OpenAPI document describes the responses of the control API', async () => {
    const { control, send } = await open()
    await send('/pets', 'my-token', { method: 'POST', body: '{"name":"Rex","categoryId":1}' })
    await control('POST', '/faults', { part: 'storage', action: 'fail', operation: 'createPet', calls: 2, status: 500 })
    await control('POST', '/faults', {
      part: 'connection',
      action: 'delay',
      milliseconds: [0, 1],
      chance: 0.5,
    })
    const { body: document } = await control('GET', '/openapi.json')
    const ajv = new Ajv2020({ strict: false, formats: { int64: true, 'date-time': true } })
    for (const [method, path, body] of [
      ['GET', '/clock', undefined],
      ['POST', '/clock', { advanceSeconds: 0.5 }],
      ['POST', '/keys', { plan: 'pro', account: 'a', label: 'b', limits: { perMinute: 1, perDay: 2 } }],
      ['GET', '/keys', undefined],
      ['GET', '/faults', undefined],
      ['POST', '/pets', { count: 1 }],
      ['GET', '/pets', undefined],
      ['PATCH', '/pets/1', { name: 'Max' }],
      ['DELETE', '/pets/1', undefined],
      ['GET', '/requests', undefined],
    ] as const) {
      const { status, body: received } = await control(method, path, body)
      const { content } = document.paths[path.replace(/\d/, '{id}')][method.toLowerCase()].responses[status]
      const validate = ajv.compile(content['application/json'].schema)
      expect({ path, valid: validate(received), errors: validate.errors }).toMatchObject({ path, valid: true })
    }
  })
})

describe('the clock', () => {
  test('the clock can stop, move, and follow the real time again', () => {
    const real = manualClock(START)
    const clock = steerableClock(real)
    clock.advance(1_000)
    real.advance(50)
    expect([clock.now(), clock.isRunning()]).toEqual([START + 1_050, true])
    clock.set(7)
    clock.advance(3)
    real.advance(50)
    expect([clock.now(), clock.isRunning()]).toEqual([10, false])
    clock.follow()
    expect([clock.now(), clock.isRunning()]).toEqual([START + 100, true])
  })
})

describe('faults', () => {
  test.each([
    [{ part: 'storage', action: 'fail', calls: 1 }, [503, 200]],
    [{ part: 'keys', action: 'fail', calls: 1, status: 500 }, [500, 200]],
    [{ part: 'quota', action: 'fail' }, [503, 503]],
    [{ part: 'quota', action: 'refuse', calls: 1 }, [429, 200]],
    [{ part: 'quota', action: 'refuse' }, [429, 429]],
  ])('faults affect requests, and DELETE /faults ends them: %j', async (fault, expected) => {
    const { control, send } = await open()
    expect((await control('POST', '/faults', fault)).status).toBe(204)
    expect([(await send('/pets')).status, (await send('/pets')).status]).toEqual(expected)
    await control('DELETE', '/faults')
    expect((await send('/pets')).status).toBe(200)
  })

  test('GET /faults lists the faults that still affect calls', async () => {
    const { control, send } = await open()
    const faults = [
      { part: 'connection', action: 'break', operation: 'createPet' },
      { part: 'storage', action: 'delay', milliseconds: 1, calls: 3 },
      { part: 'quota', action: 'refuse', calls: 2 },
      { part: 'quota', action: 'fail', status: 503 },
      { part: 'keys', action: 'fail', calls: 1, status: 500 },
    ]
    for (const fault of faults) await control('POST', '/faults', fault)
    expect((await control('GET', '/faults')).body).toEqual(faults.toReversed())
    await send('/pets')
    expect((await control('GET', '/faults')).body).toEqual(faults.slice(0, 4).toReversed())
    await control('DELETE', '/faults')
    expect((await control('GET', '/faults')).body).toEqual([])
  })

  test('GET /faults lists the random seed of a fault, which repeats it', async () => {
    const statusesWith = async (seed?: number) => {
      const { control, send } = await open()
      const { key, token } = (await control('POST', '/keys', { plan: 'pro' })).body
      await control('POST', '/faults', { part: 'storage', action: 'fail', key: key.id, chance: 0.5, seed })
      const statuses = []
      for (let i = 0; i < 30; i++) statuses.push((await send('/pets', token)).status)
      return { statuses, fault: (await control('GET', '/faults')).body[0] }
    }
    const { statuses, fault } = await statusesWith()
    expect(fault).toMatchObject({ part: 'storage', chance: 0.5, seed: expect.any(Number) })
    expect(await statusesWith(fault.seed)).toMatchObject({ statuses, fault: { seed: fault.seed } })
  })

  test('POST /reset starts the faults from the start again', async () => {
    const initial = { part: 'storage', action: 'fail', calls: Number.POSITIVE_INFINITY, chance: 0.5, seed: 3 } as const
    const { control, send } = await open('127.0.0.1', [initial])
    const statuses = async () => [
      (await send('/pets')).status,
      (await send('/pets')).status,
      (await send('/pets')).status,
    ]
    const first = await statuses()
    await control('DELETE', '/faults')
    await control('POST', '/faults', { part: 'quota', action: 'fail' })
    await control('POST', '/reset')
    expect((await control('GET', '/faults')).body).toMatchObject([{ part: 'storage', chance: 0.5, seed: 3 }])
    expect(await statuses()).toEqual(first)
  })

  test('a fault replaces an older one, unless it is for another operation or key', async () => {
    const { control } = await open()
    const fault = { part: 'storage', action: 'fail', chance: 0.5, seed: 3, status: 503 }
    const forOperation = { ...fault, operation: 'createPet' }
    const newer = { part: 'storage', action: 'fail', calls: 2, status: 503 }
    for (const body of [fault, forOperation, newer]) await control('POST', '/faults', body)
    expect((await control('GET', '/faults')).body).toEqual([newer, forOperation])
  })

  test('polls of the page and of /ready use up no fault', async () => {
    const { control, send, double } = await open()
    for (const part of ['storage', 'keys', 'quota'])
      await control('POST', '/faults', { part, action: 'fail', calls: 1 })
    expect(await double.petStore.ready()).toEqual({ ok: true, failing: [] })
    expect(await double.usageOf('my-token')).toBeUndefined()
    expect((await control('GET', '/faults')).body).toHaveLength(3)
    expect((await send('/pets')).status).toBe(503)
  })
})

test('a connection fault breaks the connection after the request is handled', async () => {
  const { control, send, double } = await open()
  await control('POST', '/faults', { part: 'connection', action: 'break', calls: 1 })
  const init = { method: 'POST', body: '{"name":"Rex","categoryId":1}' }
  await expect(send('/pets', 'my-token', init)).rejects.toMatchObject({ code: 'network_error' })
  expect(await double.pets.count()).toBe(4)
  expect((await send('/pets')).status).toBe(200)
})

test('a fault with a delay ends after the given number of calls', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const { control, send } = await open()
  await control('POST', '/faults', { part: 'storage', action: 'delay', milliseconds: 3_000, calls: 1 })
  let isDone = false
  const delayed = send('/pets').finally(() => {
    isDone = true
  })
  await vi.advanceTimersByTimeAsync(2_999)
  expect(isDone).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect((await delayed).status).toBe(200)
  expect((await send('/pets')).status).toBe(200)
})

describe('keys', () => {
  test('keys are issued, listed and revoked', async () => {
    const { control, send } = await open()
    const issued = await control('POST', '/keys', { plan: 'pro', expiresAt: '2027-01-16T00:00:00Z' })
    const { token, key } = issued.body as { token: string; key: { id: string } }
    expect((await send('/pets', token)).status).toBe(200)
    expect(await control('GET', '/keys')).toMatchObject({ body: [{ plan: 'pro', id: key.id }, { plan: 'free' }] })
    expect((await control('DELETE', `/keys/${key.id}`)).status).toBe(204)
    expect(await control('DELETE', `/keys/${key.id}`)).toEqual({
      status: 404,
      body: { code: 'key_not_found', message: `The key "${key.id}" is already revoked.`, status: 404 },
    })
    expect((await control('DELETE', '/keys/nobody')).body.message).toMatch(
      /^There is no key "nobody"\. GET \/keys lists/,
    )
    expect((await send('/pets', token)).status).toBe(401)
  })
})

describe('animals', () => {
  test('POST /pets does not round a large category id', async () => {
    const { control, send } = await open()
    const added = await control('POST', '/pets', '{"pets":[{"name":"Rex","categoryId":9007199254740993}]}')
    expect(added.status).toBe(201)
    expect((await send('/pets/4')).text).toContain('"categoryId":9007199254740993,"status":"available"')
  })

  test('animals are listed, sold and removed, also while the storage fails', async () => {
    const { control, send } = await open()
    await control('POST', '/faults', { part: 'storage', action: 'fail' })
    const sold = await control('PATCH', '/pets/2?ifStatus=available', '{"status":"sold","categoryId":9007199254740993}')
    expect(sold).toMatchObject({ status: 200, body: { id: 2, status: 'sold' } })
    expect(await control('GET', '/pets?status=sold')).toEqual({ status: 200, body: [sold.body] })
    expect(await control('DELETE', '/pets/3')).toMatchObject({ status: 200, body: { id: 3 } })
    expect((await control('GET', '/pets')).body).toHaveLength(2)
    await control('DELETE', '/faults')
    expect((await send('/pets/2')).text).toContain('"categoryId":9007199254740993,"status":"sold"')
    expect((await control('GET', '/requests')).body.total).toBe(1)
  })

  test.each([
    ['PATCH', { status: 'pending' }],
    ['DELETE', undefined],
  ])('%s /pets/1 has no effect if the animal has another status', async (method, body) => {
    const { control } = await open()
    const before = await control('GET', '/pets')
    expect(await control(method, '/pets/1?ifStatus=sold', body)).toMatchObject({
      status: 409,
      body: {
        code: 'condition_failed',
        message: expect.stringMatching(/^The animal 1 does not have the values of ifStatus\. It is available, /),
      },
    })
    expect(await control('GET', '/pets')).toEqual(before)
  })
})

describe('the journal', () => {
  test('the journal keeps requests with their responses', async () => {
    const { control, send } = await open()
    await send('/pets', 'wrong')
    await send('/pets', 'my-token', { method: 'POST', body: '{}' })
    expect((await control('GET', '/requests?limit=1')).body).toMatchObject({
      total: 2,
      requests: [
        { method: 'POST', body: '{}', requestId: expect.stringMatching(/^[\da-f-]{36}$/), response: { status: 400 } },
      ],
    })
    await control('DELETE', '/requests')
    expect((await control('GET', '/requests')).body).toEqual({ total: 0, requests: [] })
  })

  test('GET /requests filters by operation, status and number', async () => {
    const { control, send } = await open()
    const { token } = (await control('POST', '/keys', { plan: 'pro' })).body
    await send('/pets', token)
    for (const body of ['{"name":"Rex","categoryId":1}', '{}', '{"name":"Ada","categoryId":1}'])
      await send('/pets', token, {
        method: 'POST',
        body,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      })
    const idsOf = async (query: string) =>
      (await control('GET', `/requests?${query}`)).body.requests.map(({ id }: { id: number }) => id)
    expect(await idsOf('operation=createPet')).toEqual([2, 3, 4])
    expect(await idsOf('operation=createPet&status=201&wait=60')).toEqual([2, 4])
    expect(await idsOf('operation=createPet&status=201&after=2')).toEqual([4])
    expect(await idsOf('limit=1')).toEqual([4])
  })

  test('GET /requests?wait= responds as soon as a request fits', async () => {
    const { control, send } = await open()
    await send('/pets')
    const found = control('GET', '/requests?after=1&status=200&wait=60')
    await send('/pets', 'wrong')
    await send('/pets')
    expect((await found).body).toMatchObject({ total: 3, requests: [{ id: 3, operation: 'listPets' }] })
  })

  test('GET /requests?wait= responds with an empty list after the wait', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { control } = await open()
    const found = control('GET', '/requests?operation=createPet&wait=2.5')
    await vi.advanceTimersByTimeAsync(2_500)
    expect(await found).toEqual({ status: 200, body: { total: 0, requests: [] } })
  })
})

test('POST /reset restores the initial animals, keys and clock', async () => {
  const { control, send, double } = await open()
  await control('POST', '/pets', { count: 2 })
  await control('POST', '/clock', { set: '2030-12-05T00:00:00Z' })
  await control('POST', '/faults', { part: 'storage', action: 'fail' })
  for (const key of await double.backEnd().keyStore.list({ limit: 1_000 })) await control('DELETE', `/keys/${key.id}`)
  await send('/pets')
  expect((await control('POST', '/reset')).status).toBe(204)
  expect((await control('GET', '/requests')).body.total).toBe(0)
  const { status, headers, text } = await send('/pets')
  expect([status, JSON.parse(text).length, headers.get('x-ratelimit-remaining')]).toEqual([200, 3, '2'])
  expect((await control('GET', '/clock')).body).toEqual({ now: '2027-01-15T12:00:00.000Z', running: true })
})

describe('errors', () => {
  test('the clock does not advance beyond the year 9999', async () => {
    const { control } = await open()
    await control('POST', '/clock', { set: '9999-12-31T00:00:00Z' })
    const { status, body } = await control('POST', '/clock', { advanceSeconds: 86_400 })
    expect([status, body.message]).toEqual([
      400,
      expect.stringMatching(/advanceSeconds: expected .* the end of the year 9999/),
    ])
    expect((await control('GET', '/clock')).body.now).toBe('9999-12-31T00:00:00.000Z')
  })

  test.each([
    ['POST', '/clock', { advance: 3 }, 400, /^expected \{ "set": time \}.*, got an object\. GET \/openapi\.json/],
    [
      'POST',
      '/clock',
      { advanceSeconds: -3 },
      400,
      /^advanceSeconds: expected a number of seconds .*, got the number -3\./,
    ],
    ['POST', '/clock', { set: '2030-13-45T00:00:00Z' }, 400, /^set: expected a time such as/],
    ['POST', '/clock', { set: '9999-12-31T23:59:59-01:00' }, 400, /^set: expected a time .*, from 1970 to 9999/],
    ['POST', '/clock', '{"set":', 400, /cannot be read as JSON/],
    ['POST', '/clock', '{"set":"2030-12-05T00:00:00Z","set":"2030-12-05T00:00:00Z"}', 400, /member name once/],
    [
      'POST',
      '/faults',
      { part: 'database', action: 'fail' },
      400,
      /^part: expected one of storage, keys, quota, got the string "d/,
    ],
    [
      'POST',
      '/faults',
      { part: 'storage', action: 'break' },
      400,
      /^part: expected "connection", got the string "storage"\./,
    ],
    [
      'POST',
      '/faults',
      { part: 'connection', action: 'delay', milliseconds: [800, 100] },
      400,
      /^milliseconds: expected a whole number of milliseconds from 0 to 2147483647, or a range .*, got an array\./,
    ],
    [
      'POST',
      '/faults',
      { part: 'storage', action: 'fail', chance: 2 },
      400,
      /^chance: expected a number from 0 to 1, got/,
    ],
    [
      'POST',
      '/faults',
      { part: 'storage', action: 'fail', seed: 0.5 },
      400,
      /^seed: expected a whole number from 0 to 4294/,
    ],
    [
      'POST',
      '/faults',
      { part: 'storage', action: 'fail', key: 'key_x' },
      404,
      /^There is no key "key_x"\. GET \/keys lists/,
    ],
    [
      'POST',
      '/faults',
      { part: 'storage', action: 'fail', key: 'pet_a-token' },
      400,
      /^key: expected the id of a key, not its token, got the string "\*\*\*"\./,
    ],
    ['POST', '/faults', { part: 'storage' }, 400, /^action: expected "fail" or "delay" for .*, got nothing\./],
    ['POST', '/faults', { part: 'storage', action: 'delay' }, 400, /^milliseconds: expected a whole .*, got nothing\./],
    [
      'POST',
      '/faults',
      { part: 'storage', action: 'fail', status: 404 },
      400,
      /^status: expected 500 or 503, got the number 404\./,
    ],
    ['POST', '/faults', { part: 'storage', action: 'fail', call: 2 }, 400, /^expected only part, .* got call\./],
    [
      'POST',
      '/faults',
      { part: 'storage', action: 'fail', operation: 'createPets' },
      400,
      new RegExp(`^operation: expected one of ${operationNames.join(', ')}, got the string "createPets"\\.`),
    ],
    [
      'POST',
      '/faults',
      { part: 'quota', action: 'fail', operation: 'createPet' },
      400,
      /^operation: expected no operation: faults of keys and quota affect all operations, got one\./,
    ],
    [
      'POST',
      '/keys',
      { plan: 'gold' },
      400,
      /^The body is not valid: plan: expected one of the plans free, pro.* \(to add a plan, start petstore serve with --plan-limits\), got the string "gold"$/,
    ],
    [
      'POST',
      '/keys',
      { plan: 'pro', limits: { perMinute: 0, perDay: 1 } },
      400,
      /^limits\.perMinute: expected a whole/,
    ],
    ['POST', '/pets', { pets: [{ name: 'Rex' }] }, 400, /categoryId: expected an integer/],
    ['PATCH', '/pets/1', { status: 'lost' }, 400, /^The body is not valid: changes\.status: expected one of available/],
    ['PATCH', '/pets/1', { id: 7 }, 400, /changes\.id: expected one of the options name, categoryId, status/],
    ['PATCH', '/pets/1', {}, 400, /changes: expected a value for at least one of name/],
    ['PATCH', '/pets/1?ifstatus=sold', { status: 'sold' }, 400, /^expected only ifStatus, got ifstatus\./],
    ['PATCH', '/pets/7', { status: 'sold' }, 404, /^There is no animal with the id 7\.$/],
    ['DELETE', '/pets/07', undefined, 404, /^There is no animal with the id the string "07"\.$/],
    ['GET', '/pets?status=lost', undefined, 400, /^status: expected one of available, pending, sold/],
    [
      'GET',
      '/requests?operation=create',
      undefined,
      400,
      /^operation: expected one of listPets, createPet, getPet, got/,
    ],
    ['GET', '/requests?status=99', undefined, 400, /^status: expected a whole number from 100 to 599, got/],
    ['GET', '/requests?after=x', undefined, 400, /^after: expected a whole number from 0 to /],
    ['GET', '/requests?wait=61', undefined, 400, /^wait: expected a number of seconds from 0 to 60, got/],
    ['GET', '/requests?path=x', undefined, 400, /^expected only operation, status, after, wait, limit, got path\./],
    ['GET', '/requests?limit=0', undefined, 400, /^limit: expected a whole number from 1 to 1000, got the string "0"/],
    ['GET', '/nothing', undefined, 404, /^There is nothing at \/nothing\. GET \/openapi\.json lists/],
    ['PUT', '/keys', {}, 405, /^The path \/keys supports only POST, GET\.$/],
  ])('the control API responds to %s %s %j with %i', async (method, path, body, status, message) => {
    const { control } = await open()
    expect(await control(method, path, body)).toEqual({
      status,
      body: { code: expect.any(String), message: expect.stringMatching(message), status },
    })
  })

  test.each([
    ['a page of another site', { origin: 'https://evil.example' }],
    ['a name that points to this machine', { host: 'evil.example' }],
    ['a proxy', { 'x-forwarded-for': '203.0.113.7' }],
    ['a proxy that cannot be recognized', {}, ''],
    ['a client with another secret', {}, '/of-another-run'],
  ])('the control API rejects requests from %s with 403', async (_, headers, base?: string) => {
    const { control, send } = await open()
    await send('/pets')
    expect(await control('DELETE', '/requests', undefined, headers, base)).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('to a name other than localhost') },
    })
    expect((await control('GET', '/requests')).body.total).toBe(1)
  })

  test.each([
    ['172.18.0.2:3001', 200],
    ['[fd00::2]:3001', 200],
    ['localhost', 200],
    ['pets:3001', 200],
    ['Pets.example:3001', 200],
    ['host.docker.internal:3001', 200],
    ['pets.default.svc.cluster.local', 200],
    ['other.example:3001', 403],
    ['pets.example.evil.example:3001', 403],
    ['local.example', 403],
    ['172.18.0.2.example:3001', 403],
    ['[::1].example', 403],
    ['', 403],
  ])('with --control-host pets.example, a request of another machine to %j gets %i', async (host, status) => {
    const { control } = await open('pets.example')
    expect((await control('GET', '/clock', undefined, { host })).status).toBe(status)
  })

  test.each([
    [{ origin: 'http://pets.example:3001' }, '/of-this-run'],
    [{ via: '1.1 proxy' }, '/of-this-run'],
    [{}, '/of-another-run'],
  ])('with --control-host pets.example, %j to %s gets 403', async (headers, base) => {
    const { control } = await open('pets.example')
    expect((await control('GET', '/clock', undefined, { host: 'pets.example', ...headers }, base)).status).toBe(403)
  })
})

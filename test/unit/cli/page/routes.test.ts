import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { documentRoute } from '../../../../adapters/cli/openapi/openapi.ts'
import { type PageOptions, pageRoutes } from '../../../../adapters/cli/page/routes.ts'
import { isLoopback } from '../../../../adapters/cli/page/visitor.ts'
import { withSite } from '../../../../adapters/hosts/node/site.ts'
import { createPetStore, memory, toApiRequest } from '../../../../src/index.ts'
import { portFaults } from '../../../../src/testing/store/faults.ts'

const folder = join(import.meta.dirname, '../../../../adapters/cli/page/static')
const logged = {
  time: 0,
  durationMs: 1,
  method: 'GET',
  target: '/v1/pets',
  headers: {},
  body: '',
  hasToken: false,
  status: 401,
  reason: 'Unauthorized',
  responseHeaders: [],
  responseBody: '',
  isCut: false,
}
const demoKeys = [{ id: 'key_1', plan: 'free', token: 'pet_secret' }]

/** Creates a pet store with the page. Returns a function that sends a request to it. */
function site(options: Partial<PageOptions> = {}) {
  const petStore = createPetStore(memory({ pets: [{ id: 9_007_199_254_740_993n, name: 'Rex', categoryId: 7 }] }))
  const usageOf = async () => undefined
  const routes = pageRoutes({
    basePath: '/v1',
    secret: 'of-this-run',
    demoKeys: () => demoKeys,
    usageOf,
    pets: petStore.pets,
    log: { entriesAfter: (id) => [{ ...logged, id: id + 1 }], logChange: () => {} },
    folder,
    ...options,
  })
  const { handle } = withSite(petStore, { '/openapi.json': documentRoute(petStore), ...routes })
  return async (path: string, headers: Record<string, string> = {}, method = 'GET', address = '127.0.0.1') => {
    const all = { host: 'localhost:3000', 'petstore-secret': 'of-this-run', ...headers }
    const request = new Request(`http://localhost${path}`, { headers: all, method })
    const response = await handle(toApiRequest(request, address))
    const names = response.headers.filter((_, index) => index % 2 === 0)
    const headersByName = Object.fromEntries(names.map((name, i) => [name, response.headers[2 * i + 1] ?? '']))
    const body = 'bytes' in response ? String(response.bytes) : response.body
    return { status: response.status, headers: headersByName, body }
  }
}

describe('the page', () => {
  test('the page is served at the root without a key', async () => {
    const { status, headers, body } = await site()('/')
    expect([status, headers['Content-Type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect(body).toContain('<h1>A pet store API that runs on your machine</h1>')
  })

  test('requests for the page are not counted', async () => {
    const send = site()
    await send('/')
    await send('/usage', { authorization: 'Bearer x' })
    expect((await send('/v1/pets')).headers['X-RateLimit-Remaining']).toBe('59')
  })

  test('the Content-Security-Policy allows no inline code and no other origin', async () => {
    const policy = (await site()('/')).headers['Content-Security-Policy'] ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|\*|https?:/)
  })

  test('a file that the client has cached is not sent again', async () => {
    const send = site()
    for (const path of ['/', '/page/page.css']) {
      const { ETag = '' } = (await send(path)).headers
      expect(await send(path, { 'if-none-match': `"other", W/${ETag}` })).toMatchObject({ status: 304, body: '' })
      expect((await send(path, { 'if-none-match': '"other"' })).status).toBe(200)
    }
  })

  test('an unused file in the folder of the page is not served', async () => {
    const other = await mkdtemp(join(tmpdir(), 'petstore-page-'))
    onTestFinished(() => rm(other, { recursive: true }))
    await writeFile(join(other, 'secret.txt'), 'hidden text')
    const send = site({ folder: other })
    for (const path of ['/page/secret.txt', '/page/../page/secret.txt', '/page/%2e%2e/secret.txt'])
      expect((await send(path)).body).not.toContain('hidden text')
  })
})

describe('demo keys', () => {
  const keysFor = async (headers: Record<string, string>) =>
    JSON.parse((await site()('/page/settings.json', headers)).body).demoKeys

  test.each(['localhost', 'localhost:3000', '127.0.0.1:3000', '127.8.9.10', '[::1]:3000', 'LOCALHOST:1'])(
    'demo keys are sent if the Host header is %s',
    async (host) => {
      expect(await keysFor({ host })).toEqual(demoKeys)
    },
  )

  test.each(['evil.example', '127.0.0.1.evil.example', 'localhost.evil.example:3000', '192.168.0.2:3000', '', '[::2]'])(
    'demo keys are not sent if the Host header is %j (DNS rebinding)',
    async (host) => {
      expect(await keysFor({ host })).toEqual([])
    },
  )

  test.each(['forwarded', 'via', 'x-forwarded-for'])('a request with the header %s gets no demo keys', async (name) => {
    expect(await keysFor({ [name]: 'for=192.0.2.1' })).toEqual([])
  })

  test.each(['', 'of-this-ru', 'of-this-run2'])(
    'demo keys are not sent if the request has the wrong secret %j',
    async (secret) => {
      expect(await keysFor({ 'petstore-secret': secret })).toEqual([])
    },
  )

  test('demo keys are not sent to the address of another machine', async () => {
    expect((await site()('/page/settings.json', {}, 'GET', '192.0.2.1')).body).not.toContain('pet_secret')
  })

  test('demo keys are not cached, and other origins cannot read them', async () => {
    expect((await site()('/page/settings.json')).headers).toMatchObject({
      'Cache-Control': 'no-store',
      'Cross-Origin-Resource-Policy': 'same-origin',
      'X-Content-Type-Options': 'nosniff',
    })
  })
})

describe('faults', () => {
  const start = () => {
    const { control } = portFaults()
    return { control, send: site({ faults: control }) }
  }
  const shown = async (send: ReturnType<typeof site>) => JSON.parse((await send('/page/settings.json')).body).faults

  test('the page adds faults in the form of the flags, shows them and ends them', async () => {
    const { send } = start()
    expect((await send('/page/faults?delay=100-800&fail=0.1', {}, 'POST')).status).toBe(200)
    expect(await shown(send)).toEqual([
      expect.stringMatching(/^storage: fail, chance 0\.1, seed \d+$/),
      expect.stringMatching(/^connection: delay 100 to 800 ms, seed \d+$/),
    ])
    await send('/page/faults?delay=300&fail=0', {}, 'POST')
    expect(await shown(send)).toEqual(['connection: delay 300 ms'])
    await send('/page/faults', {}, 'DELETE')
    expect(await shown(send)).toEqual([])
  })

  test('a wrong fault of the page gets 400 and adds nothing', async () => {
    const { send, control } = start()
    const { status, body } = await send('/page/faults?delay=300&fail=2', {}, 'POST')
    expect([status, JSON.parse(body).message]).toEqual([400, 'Expected a chance from 0 to 1, such as 0.1.'])
    expect(control.inForce()).toEqual([])
  })

  test.each(['POST', 'DELETE'])('%s /page/faults needs the secret, and a store with faults', async (method) => {
    const { send, control } = start()
    control.add({ part: 'storage', action: 'fail', calls: 1 })
    expect((await send('/page/faults?fail=1', { 'petstore-secret': 'wrong' }, method)).status).toBe(404)
    expect(control.inForce()).toHaveLength(1)
    expect((await site()('/page/faults?fail=1', {}, method)).status).toBe(404)
    expect(await shown(site())).toBeNull()
  })
})

describe('the request log', () => {
  const requestsFor = async (headers: Record<string, string>) =>
    JSON.parse((await site()('/page/settings.json?after=7', headers)).body).entries

  test('/page/settings.json?after=7 contains only requests with an id above 7', async () => {
    expect(await requestsFor({})).toEqual([{ ...logged, id: 8 }])
  })

  test.each<Record<string, string>>([
    { 'petstore-secret': 'guessed' },
    { host: 'evil.example' },
    { 'x-forwarded-for': '192.0.2.1' },
  ])('the log in /page/settings.json is empty if the request has the headers %j', async (headers) => {
    expect(await requestsFor(headers)).toEqual([])
  })
})

describe('changes of animals', () => {
  const id = '9007199254740993'
  const pet = (status: string) => `{"id":${id},"name":"Rex","categoryId":7,"status":"${status}"}`

  test('the visitor changes and removes an animal, and the log shows the same calls', async () => {
    const logChange = vi.fn()
    const send = site({ log: { entriesAfter: () => [], logChange } })
    expect(await send(`/page/pets/${id}?status=sold&ifStatus=available`, {}, 'PATCH')).toMatchObject({
      status: 200,
      headers: { 'Cache-Control': 'no-store' },
      body: `{"applied":true,"pet":${pet('sold')}}`,
    })
    expect((await send(`/page/pets/${id}?ifStatus=sold`, {}, 'DELETE')).body).toContain('"applied":true')
    const sale = `petStore.pets.update(${id}n, { status: 'sold' }, { if: { status: 'available' } })`
    const removal = `petStore.pets.remove(${id}n, { if: { status: 'sold' } })`
    expect(logChange.mock.calls).toEqual([
      [{ call: sale, pet: pet('sold'), isRemoved: false }],
      [{ call: removal, pet: pet('sold'), isRemoved: true }],
    ])
  })

  test('an animal that has changed in the meantime stays as it is', async () => {
    const send = site()
    const refused = await send(`/page/pets/${id}?status=pending&ifStatus=sold`, {}, 'PATCH')
    expect(refused).toMatchObject({ status: 200, body: `{"applied":false,"pet":${pet('available')}}` })
    const missing = await send('/page/pets/7?ifStatus=sold', {}, 'DELETE')
    expect(missing).toMatchObject({ status: 200, body: '{"applied":false,"pet":null}' })
  })

  test.each([`/page/pets/${id}`, `/page/pets/${id}?status=lost&ifStatus=sold`])('%s gets 400', async (path) => {
    expect((await site()(path, {}, 'PATCH')).status).toBe(400)
  })

  test('a storage that fails gets 503', async () => {
    const fail = () => Promise.reject(new Error('away'))
    const send = site({ pets: { update: fail, remove: fail } })
    expect((await send(`/page/pets/${id}?ifStatus=sold`, {}, 'DELETE')).status).toBe(503)
  })

  test.each<Record<string, string>>([
    { 'petstore-secret': 'guessed' },
    { host: 'evil.example' },
    { 'x-forwarded-for': '192.0.2.1' },
  ])('a request with the headers %j changes nothing', async (headers) => {
    const send = site()
    const path = `/page/pets/${id}?ifStatus=available`
    expect((await send(path, headers, 'DELETE')).status).toBe(404)
    expect((await send(path, {}, 'DELETE')).body).toContain('"applied":true')
  })
})

describe('/usage', () => {
  test.each<Record<string, string>>([
    { host: 'evil.example' },
    { 'x-forwarded-for': '192.0.2.1' },
    { 'petstore-secret': 'guessed' },
  ])('/usage responds with 404 to a request with the headers %j', async (headers) => {
    expect((await site()('/usage', { authorization: 'Bearer abc', ...headers })).status).toBe(404)
  })

  test('/usage needs a key', async () => {
    expect((await site()('/usage')).status).toBe(401)
  })

  test('/usage responds with null to a key without requests', async () => {
    expect(await site()('/usage', { authorization: 'Bearer abc' })).toMatchObject({ status: 200, body: 'null' })
  })

  test('/usage responds with the usage of the key in Authorization', async () => {
    const tokens: string[] = []
    const usageOf = async (token: string) => {
      tokens.push(token)
      return undefined
    }
    await site({ usageOf })('/usage', { authorization: 'bearer abc' })
    expect(tokens).toEqual(['abc'])
  })
})

test.each([
  ['127.0.0.1', true],
  ['127.0.0.2', true],
  ['::1', true],
  ['localhost', true],
  ['0.0.0.0', false],
  ['::', false],
  ['192.168.0.2', false],
  ['127.0.0.1.example', false],
])('isLoopback(%s) is %s', (host, expected) => {
  expect(isLoopback(host)).toBe(expected)
})

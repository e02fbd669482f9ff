import { HttpResponse, http } from 'msw'
import { setupServer } from 'msw/node'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createTestPetStore } from '../../../../src/testing/index.ts'
import { type Interception, interceptFetch } from '../../../../src/testing/store/intercept.ts'

const globalFetch = globalThis.fetch
const open: Pick<Interception, 'restore'>[] = []
afterEach(() => {
  for (const interception of open.splice(0)) interception.restore()
  expect(globalThis.fetch).toBe(globalFetch)
})

async function intercept(origin: string) {
  const store = await createTestPetStore()
  const interception = interceptFetch(origin, store.petStore)
  open.push(interception)
  return { ...store, interception, headers: { authorization: `Bearer ${store.token}` } }
}

test('interceptFetch passes requests for the origin to the store', async () => {
  const { headers, requests } = await intercept('https://api.example')
  const response = await fetch('https://api.example/v1/pets?limit=1', { headers })
  expect([response.status, response.url]).toEqual([200, 'https://api.example/v1/pets?limit=1'])
  expect(requests).toMatchObject([{ method: 'GET', path: '/v1/pets?limit=1' }])
})

test('interceptFetch passes the request body to the store', async () => {
  const { headers } = await intercept('https://api.example')
  const response = await fetch('https://api.example/v1/pets', {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: '{"name":"Rex","categoryId":1}',
  })
  expect(await response.json()).toMatchObject({ id: 1, name: 'Rex' })
})

test('a broken connection makes the global fetch reject with a TypeError', async () => {
  const { headers, faults } = await intercept('https://api.example')
  faults.connection.breakConnections()
  for (let i = 0; i < 2; i++) await expect(fetch('https://api.example/v1/pets', { headers })).rejects.toThrow(TypeError)
  faults.connection.recover()
  expect((await fetch('https://api.example/v1/pets', { headers })).status).toBe(200)
})

test('two origins can have different stores', async () => {
  const first = await intercept('https://one.example')
  const second = await intercept('https://two.example:8443')
  first.interception.restore()
  expect((await fetch('https://two.example:8443/v1/pets', { headers: second.headers })).status).toBe(200)
  expect([first.requests.length, second.requests.length]).toEqual([0, 1])
  second.interception.restore()
  second.interception.restore()
  expect(globalThis.fetch).toBe(globalFetch)
})

test('Symbol.dispose ends the interception', async () => {
  const { interception } = await intercept('https://api.example')
  interception[Symbol.dispose]()
  expect(globalThis.fetch).toBe(globalFetch)
})

describe('beside MSW, which uses the same interceptor', () => {
  const handlers = [http.get('https://other.example/', () => HttpResponse.text('from MSW'))]

  test('interceptFetch refuses to start after MSW', async () => {
    const server = setupServer(...handlers)
    server.listen()
    open.unshift({ restore: () => server.close() })
    const { petStore } = await createTestPetStore()
    const advice = /Call interceptFetch before server\.listen\(\).* as in the recipe for MSW/
    expect(() => interceptFetch('https://api.example', petStore)).toThrow(advice)
    expect(await (await fetch('https://other.example/')).text()).toBe('from MSW')
  })

  test('restore does not end an MSW that was started later', async () => {
    const { interception, headers } = await intercept('https://api.example')
    const server = setupServer(...handlers)
    server.listen({ onUnhandledRequest: 'bypass' })
    open.unshift({ restore: () => server.close() })
    expect((await fetch('https://api.example/v1/pets', { headers })).status).toBe(200)
    interception.restore()
    expect(await (await fetch('https://other.example/')).text()).toBe('from MSW')
    server.close()
    // The next interception ends the interceptor that was left for MSW.
    await intercept('https://api.example')
  })

  test('the store stays in force after a later MSW has ended', async () => {
    const { headers } = await intercept('https://api.example')
    const server = setupServer(...handlers)
    server.listen({ onUnhandledRequest: 'bypass' })
    server.close()
    expect((await fetch('https://api.example/v1/pets', { headers })).status).toBe(200)
  })
})

test('an error says that other code has replaced the global fetch', async () => {
  const { interception, petStore } = await intercept('https://api.example')
  const replaced = /other code has replaced/
  vi.stubGlobal('fetch', async () => new Response())
  expect(() => interceptFetch('https://other.example', petStore)).toThrow(replaced)
  expect(() => interception.restore()).toThrow(replaced)
  vi.unstubAllGlobals()
  open.push(interceptFetch('https://other.example', petStore))
})

test('restore does not end a newer interception of the same store', async () => {
  const { interception, petStore, headers } = await intercept('https://api.example')
  interception.restore()
  open.push(interceptFetch('https://api.example', petStore))
  interception.restore()
  expect((await fetch('https://api.example/v1/pets', { headers })).status).toBe(200)
})

test('interceptFetch accepts an origin with a trailing slash', async () => {
  const { headers, petStore } = await intercept('http://127.0.0.1:3000/')
  expect((await fetch('http://127.0.0.1:3000/v1/pets', { headers })).status).toBe(200)
  expect(() => interceptFetch('http://127.0.0.1:3000', petStore)).toThrow(/not intercepted already/)
})

test.each(['https://api.example//', 'https://api.example/v1', 'api.example', 5])(
  'interceptFetch rejects the origin %s',
  async (origin) => {
    const { petStore } = await createTestPetStore()
    expect(() => interceptFetch(origin as string, petStore)).toThrow(/^option origin: expected an origin such as/)
  },
)

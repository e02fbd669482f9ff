import { describe, expect, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { type ApiRequest, createPetStore, type PetStore, wrapRequest } from '../../../src/index.ts'
import { startServer } from '../../support/node-server.ts'
import { rawRequest } from '../../support/raw-http.ts'

const store = createPetStore()

/** Ways in which a host can wrap a store. Each wrapper counts the requests that it receives. */
const wrappings: Record<string, () => { petStore: PetStore; count: () => number }> = {
  'a copy with another handle': () => {
    const handle = vi.fn((request: ApiRequest) => store.handle(request))
    return { petStore: { ...store, handle }, count: () => handle.mock.calls.length }
  },
  'a class whose handle needs this': () => {
    class Counted implements PetStore {
      readonly fetch = store.fetch
      readonly basePath = store.basePath
      calls = 0
      handle(request: ApiRequest) {
        this.calls++
        return store.handle(request)
      }
    }
    const petStore = new Counted()
    return { petStore, count: () => petStore.calls }
  },
  'a proxy around handle': () => {
    const apply = vi.fn((handle: PetStore['handle'], _self: unknown, [request]: [ApiRequest]) => handle(request))
    const handle: PetStore['handle'] = new Proxy(store.handle, { apply })
    return { petStore: { ...store, handle }, count: () => apply.mock.calls.length }
  },
}

const url = 'http://localhost/v1/pets'
const hosts: Record<string, (petStore: PetStore) => Promise<number>> = {
  toBunHandler: async (petStore) => (await toBunHandler(petStore)(new Request(url), { requestIP: () => null })).status,
  toDenoHandler: async (petStore) => (await toDenoHandler(petStore)(new Request(url), { remoteAddr: {} })).status,
  serve: async (petStore) => {
    const { url } = await startServer({ wrap: () => petStore })
    return (await rawRequest(url, 'GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')).status
  },
}

describe.each(Object.entries(wrappings))('%s', (_wrapping, wrap) => {
  test.each(Object.entries(hosts))('%s calls handle of the wrapper, not of the store', async (_host, ask) => {
    const { petStore, count } = wrap()
    expect(await ask(petStore)).toBe(401)
    expect(count()).toBe(1)
  })
})

test('toBunHandler reads petStore.handle again at each request', async () => {
  const petStore = { ...createPetStore() }
  const handler = toBunHandler(petStore)
  const server = { requestIP: () => null }
  expect((await handler(new Request(url), server)).status).toBe(401)
  petStore.handle = async () => ({ status: 418, headers: [], body: '' })
  expect((await handler(new Request(url), server)).status).toBe(418)
})

describe('a wrapper that changes a request', () => {
  async function answer(change: (request: ApiRequest) => ApiRequest) {
    const onError = vi.fn()
    const onResponse = vi.fn()
    const petStore = createPetStore({ onError, onResponse })
    const { token } = await petStore.keys.issue({ plan: 'free' })
    const handler = toBunHandler({ ...petStore, handle: (request) => petStore.handle(change(request)) })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const request = new Request('http://localhost/shop/v1/pets', {
      method: 'POST',
      headers,
      body: '{"name":"Rex","categoryId":1}',
    })
    const { status } = await handler(request, { requestIP: () => ({ address: '192.0.2.1' }) })
    return { status, onError, onResponse }
  }

  test('wrapRequest keeps the methods, the address and the signal', async () => {
    const signals: unknown[] = []
    const { status, onResponse } = await answer((request) => {
      const wrapped = wrapRequest(request, { mountPath: '/shop' })
      signals.push(request.signal, wrapped.signal)
      return wrapped
    })
    expect(status).toBe(201)
    expect(onResponse.mock.calls).toMatchObject([[{ clientAddress: '192.0.2.1', target: '/shop/v1/pets' }]])
    expect(signals[0]).toBe(signals[1])
  })

  test('wrapRequest may remove a member', () => {
    const request = { clientAddress: '192.0.2.1' } as ApiRequest
    expect(wrapRequest(request, { clientAddress: undefined }).clientAddress).toBeUndefined()
  })

  test('a copy that has lost its methods gets 500 and an error that says what to do', async () => {
    const { status, onError } = await answer((request) => ({ ...request, mountPath: '/shop' }))
    expect(status).toBe(500)
    const message = expect.stringContaining('such as wrapRequest returns and { ...request } does not')
    expect(onError.mock.calls).toMatchObject([[{ code: 'invalid_option', message }, { method: 'POST' }]])
  })
})

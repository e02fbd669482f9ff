import { describe, expect, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { type ApiRequest, createPetStore, type PetStore } from '../../../src/index.ts'
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

import { createPetStoreClient } from 'petstore-kit/client'
import { createTestPetStore } from 'petstore-kit/testing'
import { afterEach, expect, test, vi } from 'vitest'

const { fetch: realFetch } = globalThis
afterEach(() => void vi.unstubAllGlobals())

async function start() {
  const store = await createTestPetStore({ pets: [{ name: 'Rex' }] })
  const headers = { authorization: `Bearer ${store.token}` }
  return { ...store, headers, signal: new AbortController().signal }
}

test('the client works, with and without a signal', async () => {
  const { fetch, token, signal } = await start()
  const client = createPetStoreClient({ baseUrl: 'https://api.example/v1', apiKey: token, fetch })
  await client.createPet({ name: 'Ada', categoryId: 1n })
  expect((await client.listPets({ signal })).pets.length).toBe(2)
  await expect(client.listPets({ signal: AbortSignal.abort('enough') })).rejects.toBe('enough')
})

test('every fetch of the test store accepts a signal', async () => {
  const { fetch, petStore, request, headers, signal } = await start()
  expect((await fetch('https://api.example/v1/pets', { headers, signal })).status).toBe(200)
  expect((await petStore.fetch('https://api.example/v1/pets', { headers, signal })).status).toBe(200)
  expect((await request('/pets', { signal })).status).toBe(200)
  await expect(fetch('/v1/pets', { signal: AbortSignal.abort('enough') })).rejects.toBe('enough')
})

test('a signal ends a request that waits for the store', async () => {
  const { fetch, headers, faults, pets } = await start()
  faults.storage.delay(1_000_000)
  const controller = new AbortController()
  const listed = fetch('/v1/pets', { headers, signal: controller.signal })
  controller.abort('enough')
  await expect(listed).rejects.toBe('enough')
  expect(await pets.count()).toBe(1)
})

test('the stubbed fetch resolves a relative path against the page', async () => {
  const { fetch, headers } = await start()
  vi.stubGlobal('fetch', fetch)
  const response = await globalThis.fetch('/v1/pets?limit=1', { headers })
  expect([response.status, response.url]).toEqual([200, `${location.origin}/v1/pets?limit=1`])
})

test('the client calls the real fetch without an error about its signal', async () => {
  const client = createPetStoreClient({
    baseUrl: 'http://127.0.0.1:1/v1',
    apiKey: 'abc',
    fetch: realFetch,
    retry: false,
  })
  const error = await client.listPets().catch((error) => error)
  expect(error).toMatchObject({ code: 'network_error' })
  expect(error.message).not.toContain('signal')
})

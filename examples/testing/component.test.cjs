// npx jest --env=jest-fixed-jsdom --rootDir examples/testing --testMatch '**/component.test.cjs'
const { createPetStoreClient } = require('petstore-kit/client')
const { createTestPetStore } = require('petstore-kit/testing')

/** Your own component: it adds an animal and shows its name, until it is removed from the page. */
async function addPet(output, apiKey, name, signal) {
  const client = createPetStoreClient({ baseUrl: `${location.origin}/v1`, apiKey })
  const pet = await client.createPet({ name, categoryId: 1n }, { signal })
  output.textContent = pet.name
}

const { fetch } = globalThis
let store
beforeEach(async () => {
  store = await createTestPetStore()
  globalThis.fetch = store.fetch
})
afterEach(() => {
  globalThis.fetch = fetch
})

test('the component adds an animal', async () => {
  const output = document.createElement('output')
  await addPet(output, store.token, 'Rex', new AbortController().signal)
  expect(output.textContent).toBe('Rex')
  expect(store.requests).toMatchObject([{ method: 'POST', path: '/v1/pets' }])
})

test('a component that was removed adds no animal', async () => {
  const removed = AbortSignal.abort()
  await expect(addPet(document.createElement('output'), store.token, 'Rex', removed)).rejects.toThrow('aborted')
  expect(store.requests).toEqual([])
})

// npx vitest run --environment jsdom examples/testing/component.test.mjs
import { createTestPetStore } from 'petstore-kit/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** Your own component: it lists the animals that are available, or says that the store is closed. */
async function showPets(list, apiKey) {
  const response = await fetch('/v1/pets?status=available', { headers: { authorization: `Bearer ${apiKey}` } })
  if (!response.ok) {
    list.textContent = 'The store is closed right now.'
    return
  }
  for (const { name } of await response.json()) {
    const item = document.createElement('li')
    item.textContent = name
    list.append(item)
  }
}

let store
beforeEach(async () => {
  const pets = [{ name: 'Rex' }, { name: 'Ada', status: 'sold' }]
  store = await createTestPetStore({ pets, onError: () => {} })
  vi.stubGlobal('fetch', store.fetch)
})
afterEach(() => void vi.unstubAllGlobals())

test('the component lists the animals that are available', async () => {
  const list = document.createElement('ul')
  await showPets(list, store.token)
  expect(list.innerHTML).toBe('<li>Rex</li>')
})

test('the component says that the store is closed', async () => {
  const list = document.createElement('ul')
  store.faults.storage.fail()
  await showPets(list, store.token)
  expect(list.textContent).toBe('The store is closed right now.')
})

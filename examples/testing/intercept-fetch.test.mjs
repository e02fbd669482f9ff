// node --test examples/testing/intercept-fetch.test.mjs
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTestPetStore } from 'petstore-kit/testing'
import { interceptFetch } from 'petstore-kit/testing/intercept'

/** A program that always calls the global fetch. */
async function countPets(apiKey) {
  const response = await fetch('https://api.example/v1/pets?limit=100', {
    headers: { authorization: `Bearer ${apiKey}` },
  })
  if (response.status === 503) return undefined
  return (await response.json()).length
}

test('the program counts animals, and reports an outage', async (t) => {
  const { petStore, token, faults } = await createTestPetStore({
    pets: [{ name: 'Rex' }, { name: 'Ada' }],
    onError: () => {},
  })
  const interception = interceptFetch('https://api.example', petStore)
  t.after(() => interception.restore())

  assert.equal(await countPets(token), 2)
  faults.storage.fail()
  assert.equal(await countPets(token), undefined)
})

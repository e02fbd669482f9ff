// deno test examples/testing/deno.test.mjs
import assert from 'node:assert/strict'
import { createTestPetStore } from 'petstore-kit/testing'

Deno.test('the catalogue lists sold animals', async () => {
  const { client } = await createTestPetStore({ pets: [{ name: 'Rex', status: 'sold' }, { name: 'Ada' }] })
  const { pets } = await client.listPets({ status: 'sold' })
  assert.deepEqual(
    pets.map(({ name }) => name),
    ['Rex'],
  )
})

// bun test ./examples/testing/bun.test.mjs
import { expect, test } from 'bun:test'
import { createTestPetStore } from 'petstore-kit/testing'

test('the catalogue lists sold animals', async () => {
  const { client } = await createTestPetStore({ pets: [{ name: 'Rex', status: 'sold' }, { name: 'Ada' }] })
  const { pets } = await client.listPets({ status: 'sold' })
  expect(pets.map(({ name }) => name)).toEqual(['Rex'])
})

// node --test examples/testing/msw.test.mjs
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { http } from 'msw'
import { setupServer } from 'msw/node'
import { createTestPetStore } from 'petstore-kit/testing'

const { petStore, token, requests, faults } = await createTestPetStore({ pets: [{ name: 'Rex' }] })
const server = setupServer(
  // `fetch` of the store rejects if a fault breaks the connection. `Response.error()` is a network error for the program.
  http.all('https://api.example/*', ({ request }) => petStore.fetch(request).catch(() => Response.error())),
)
before(() => server.listen({ onUnhandledRequest: 'error' }))
after(() => server.close())

test('a program that calls the global fetch reaches the store', async () => {
  const response = await fetch('https://api.example/v1/pets', { headers: { authorization: `Bearer ${token}` } })
  assert.deepEqual(await response.json(), [{ id: 1, name: 'Rex', categoryId: 1, status: 'available' }])
  assert.equal(requests[0].path, '/v1/pets')

  faults.connection.breakTimes(1)
  await assert.rejects(fetch('https://api.example/v1/pets'), TypeError)
})

// node --test examples/testing/node.test.mjs
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { serve } from 'petstore-kit/node'
import { createTestPetStore } from 'petstore-kit/testing'

test('an animal that is added is listed', async (t) => {
  const petStore = await createTestPetStore()
  const server = await serve(petStore, { port: 0 })
  t.after(() => server.close())

  const headers = { authorization: `Bearer ${petStore.token}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'Rex', categoryId: 1 })
  const added = await fetch(`${server.url}/v1/pets`, { method: 'POST', headers, body })
  assert.equal(added.status, 201)

  const listed = await fetch(`${server.url}/v1/pets`, { headers })
  assert.deepEqual(await listed.json(), [await added.json()])
})

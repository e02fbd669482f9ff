import { expect, test } from 'vitest'
import { createTestPetStore } from '../../src/testing/index.ts'

const url = 'http://localhost/v1/pets'

async function given() {
  const faults: unknown[] = []
  const { fetch, token } = await createTestPetStore({ onError: (error) => faults.push(error) })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const request = new Request(url, { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' })
  return { fetch, request, faults }
}

test('a Request that the host has read is an error that says what to do', async () => {
  const { fetch, request, faults } = await given()
  await request.json()
  const response = await fetch(request)
  expect(response.status).toBe(500)
  expect(await response.json()).toMatchObject({ code: 'body_already_read', status: 500 })
  expect(faults).toMatchObject([{ code: 'body_already_read' }])
})

test('a Request that somebody is reading is an error as well, and no hang', async () => {
  const { fetch, request } = await given()
  request.body?.getReader()
  expect(await (await fetch(request)).json()).toMatchObject({ code: 'body_already_read' })
})

test('a clone may be read before', async () => {
  const { fetch, request } = await given()
  await request.clone().json()
  expect((await fetch(request)).status).toBe(201)
})

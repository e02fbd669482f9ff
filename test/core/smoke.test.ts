import { expect, test } from 'vitest'
import { createTestPetStore } from '../../src/testing/index.ts'

test('a first request is served', async () => {
  const { request } = await createTestPetStore()
  const response = await request('/pets', { method: 'POST', body: '{"name":"Rex","categoryId":1}' })
  expect(response.status).toBe(201)
  expect(await response.text()).toBe('{"id":1,"name":"Rex","categoryId":1,"status":"available"}')
})

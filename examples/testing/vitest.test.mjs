// npx vitest run --root examples/testing
import { createTestPetStore } from 'petstore-kit/testing'
import { expect, test } from 'vitest'

test('the 61st request of a minute waits for the next minute', async () => {
  const { request, clock } = await createTestPetStore()
  for (let i = 0; i < 60; i++) expect((await request('/pets')).status).toBe(200)

  const refused = await request('/pets')
  expect(refused.status).toBe(429)

  clock.advance(Number(refused.headers.get('retry-after')) * 1000)
  expect((await request('/pets')).status).toBe(200)
})

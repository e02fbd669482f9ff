// npx vitest run --root examples/testing back-off
import { createTestPetStore } from 'petstore-kit/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** Your own client. After a 429, it waits for the time in Retry-After; without this header, it uses exponential back-off. */
async function listPets(fetch, apiKey, retries = 3) {
  const headers = { authorization: `Bearer ${apiKey}` }
  for (let attempt = 0; ; attempt++) {
    const response = await fetch('https://api.example/v1/pets', { headers })
    if (response.status !== 429 || attempt === retries) return response
    const seconds = Number(response.headers.get('retry-after') ?? 2 ** attempt)
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000))
  }
}

beforeEach(() => void vi.useFakeTimers({ now: Date.UTC(2030, 0, 1) }))
afterEach(() => void vi.useRealTimers())

test('the client waits as long as Retry-After says', async () => {
  const { fetch, token, requests } = await createTestPetStore({ clock: Date })
  for (let i = 0; i < 60; i++) await listPets(fetch, token)

  const listed = listPets(fetch, token)
  await vi.runAllTimersAsync()

  expect((await listed).status).toBe(200)
  const [refused, repeated] = requests.slice(60)
  expect([refused.response?.status, repeated.response?.status]).toEqual([429, 200])
  expect(repeated.time - refused.time).toBe(60_000)
})

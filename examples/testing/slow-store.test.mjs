// npx vitest run --root examples/testing
import { createTestPetStore } from 'petstore-kit/testing'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

/** Your own client, which gives up after two seconds. It uses `setTimeout`: fake timers do not affect `AbortSignal.timeout`. */
async function listPets(fetch, apiKey) {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), 2_000)
  try {
    const headers = { authorization: `Bearer ${apiKey}` }
    return (await fetch('https://api.example/v1/pets', { headers, signal: controller.signal })).status
  } catch {
    return 'too slow'
  } finally {
    clearTimeout(timer)
  }
}

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test('the client gives up on a slow store', async () => {
  const { fetch, token, faults } = await createTestPetStore({ clock: Date })
  faults.storage.delay(3_000)

  const listed = listPets(fetch, token)
  await vi.advanceTimersByTimeAsync(2_000)

  expect(await listed).toBe('too slow')
})

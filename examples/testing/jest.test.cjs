// npx jest --rootDir examples/testing --testMatch '**/jest.test.cjs'
const { createTestPetStore } = require('petstore-kit/testing')

/** A program that waits as long as Retry-After says. */
async function listPets(fetch, apiKey) {
  for (;;) {
    const response = await fetch('https://api.example/v1/pets', { headers: { authorization: `Bearer ${apiKey}` } })
    if (response.status !== 429) return response
    await new Promise((resolve) => setTimeout(resolve, Number(response.headers.get('retry-after')) * 1000))
  }
}

// Jest replaces `Date` and the timers; the store follows them if its clock is `Date`.
// `nextTick` and `queueMicrotask` stay real, because requests use promises.
beforeEach(() => jest.useFakeTimers({ now: Date.UTC(2030, 0, 1), doNotFake: ['nextTick', 'queueMicrotask'] }))
afterEach(() => jest.useRealTimers())

test('a program waits as long as Retry-After says', async () => {
  const { fetch, token, requests } = await createTestPetStore({ clock: Date })
  for (let i = 0; i < 60; i++) await listPets(fetch, token)

  const listed = listPets(fetch, token)
  await jest.advanceTimersByTimeAsync(60_000)

  expect((await listed).status).toBe(200)
  const [refused, repeated] = requests.slice(60)
  expect([refused.response?.status, repeated.response?.status]).toEqual([429, 200])
  expect(repeated.time - refused.time).toBe(60_000)
})

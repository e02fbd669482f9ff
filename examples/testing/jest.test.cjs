// npx jest --rootDir examples/testing --testMatch '**/jest.test.cjs'
const { createTestPetStore } = require('petstore-kit/testing')

// Jest replaces `Date` and the timers; the store follows them if its clock is `Date`.
// `nextTick` and `queueMicrotask` stay real, because requests use promises.
beforeEach(() => jest.useFakeTimers({ now: Date.UTC(2030, 0, 1), doNotFake: ['nextTick', 'queueMicrotask'] }))
afterEach(() => jest.useRealTimers())

test('a program is served again after the wait that Retry-After names', async () => {
  const { request } = await createTestPetStore({ clock: Date })
  for (let i = 0; i < 60; i++) expect((await request('/pets')).status).toBe(200)

  const refused = await request('/pets')
  expect(refused.status).toBe(429)

  jest.advanceTimersByTime(Number(refused.headers.get('retry-after')) * 1000)
  expect((await request('/pets')).status).toBe(200)
})

const { createPetStoreClient } = require('petstore-kit/client')
const { createTestPetStore } = require('petstore-kit/testing')

test('the environment has no classes of fetch', () => {
  expect([typeof Request, typeof TextDecoder, crypto.subtle]).toEqual(['undefined', 'undefined', undefined])
})

test('a test store works without fetch', async () => {
  const { handle, token, keys, requests } = await createTestPetStore({ pets: [{ name: 'Rex' }] })
  const { key } = await keys.issue({ plan: 'pro' })
  expect(key.plan).toBe('pro')
  const header = (name) => (name === 'authorization' ? `Bearer ${token}` : undefined)
  const response = await handle({ method: 'GET', target: '/v1/pets', header, body: async () => new Uint8Array() })
  expect(JSON.parse(response.body)).toMatchObject([{ name: 'Rex' }])
  expect(requests[0].response.headers['content-type']).toBe('application/json')
})

test('an error names what the environment lacks', async () => {
  const { fetch, petStore, request, client, token } = await createTestPetStore()
  const advice = /has no Request.*use the environment jest-fixed-jsdom/
  for (const call of [fetch, petStore.fetch]) await expect(call('http://localhost/v1/pets')).rejects.toThrow(advice)
  await expect(request('/pets')).rejects.toThrow(advice)
  await expect(client.listPets()).rejects.toThrow(advice)
  const online = createPetStoreClient({ baseUrl: 'https://api.example/v1', apiKey: token })
  await expect(online.listPets()).rejects.toThrow(/has no global fetch.*jest-fixed-jsdom/)
})

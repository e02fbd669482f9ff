import { INT64_MAX, MAX_LIMIT, type NewPet } from '../../../model.ts'
import type { ContractClient } from './client.ts'
import { check, checkEqual, expectError, expectPet, expectPets, expectRateLimit } from './expectations.ts'
import { checkGetPet, type HttpRule, limitedRule, post, REX, rule, UNKNOWN_PET } from './rule.ts'

const DEFAULT_LIMIT = 20

/** Checks that every operation responds with 401 to the given `Authorization` header. */
async function expectRejected(client: ContractClient, authorization: string | null): Promise<void> {
  expectError(await client.send('GET /pets', { authorization }), 401)
  expectError(await client.send('POST /pets', { authorization, body: REX }), 401)
  await checkGetPet(client, '/pets/1', (response) => expectError(response, 401), { authorization })
}

export const interfaceRules: readonly HttpRule[] = [
  rule('adds an animal, and responds with 201 and its id', async (client) => {
    const { id, ...pet } = expectPet(await post(client, { ...REX, status: 'pending' }), 201)
    checkEqual(pet, { name: 'Rex', categoryId: 1n, status: 'pending' }, 'the added animal')
  }),
  rule('gives each animal its own id', async (client) => {
    const first = expectPet(await post(client), 201)
    const second = expectPet(await post(client), 201)
    check(first.id !== second.id, `expected two different ids, got ${first.id} twice`)
  }),
  rule('keeps all digits of 64-bit integers', async (client) => {
    for (const categoryId of [INT64_MAX, -INT64_MAX]) {
      const pet = expectPet(await post(client, `{"name":"Rex","categoryId":${categoryId}}`), 201)
      checkEqual(pet.categoryId, categoryId, 'categoryId')
      await checkGetPet(client, `/pets/${pet.id}`, (response) =>
        checkEqual(expectPet(response, 200).categoryId, categoryId, `${response.name}: categoryId`),
      )
    }
  }),
  rule('reads an added animal by its id', async (client) => {
    const sent = { name: 'Zoë 🐕', categoryId: 7, status: 'sold' } satisfies Record<keyof NewPet, unknown>
    const { id, ...added } = expectPet(await post(client, sent), 201)
    checkEqual(added, { ...sent, categoryId: 7n }, 'the added animal')
    await checkGetPet(client, `/pets/${id}`, (response) =>
      checkEqual(expectPet(response, 200), { id, ...added }, response.name),
    )
  }),
  rule('lists an added animal', async (client) => {
    const { id } = expectPet(await post(client, { ...REX, status: 'sold' }), 201)
    const pets = expectPets(await client.send(`GET /pets?status=sold&limit=${MAX_LIMIT}`))
    // On a server with many animals, the new animal is on a later page.
    check(pets.length === MAX_LIMIT || pets.some((pet) => pet.id === id), `expected the animal ${id} in the list`)
  }),
  rule('lists at most as many animals as limit says', async (client) => {
    for (let i = 0; i < 3; i++) await post(client)
    for (const limit of [1, 2])
      checkEqual(expectPets(await client.send(`GET /pets?limit=${limit}`)).length, limit, `animals with limit=${limit}`)
  }),
  rule('lists 20 animals by default', async (client) => {
    let count = expectPets(await client.send(`GET /pets?limit=${MAX_LIMIT}`)).length
    check(count <= MAX_LIMIT, `GET /pets?limit=${MAX_LIMIT}: expected at most ${MAX_LIMIT} animals, got ${count}`)
    for (; count <= DEFAULT_LIMIT; count++) expectPet(await post(client), 201)
    checkEqual(expectPets(await client.send('GET /pets')).length, DEFAULT_LIMIT, 'animals in the response to GET /pets')
  }),
  rule('lists only animals with the given status', async (client) => {
    for (const status of ['sold', 'pending']) {
      await post(client, { ...REX, status })
      const pets = expectPets(await client.send(`GET /pets?status=${status}`))
      check(pets.length > 0, `expected at least one animal with the status ${status}`)
      for (const pet of pets) check(pet.status === status, `expected only the status ${status}, got ${pet.status}`)
    }
  }),
  rule('rejects a body without a required field with 400', async (client) => {
    for (const body of [{ name: 'Rex' }, { categoryId: 1 }, {}]) expectError(await post(client, body), 400)
  }),
  rule('rejects a field with an invalid value with 400', async (client) => {
    for (const wrong of [{ name: 5 }, { categoryId: '1' }, { categoryId: 1.5 }, { status: 'lost' }])
      expectError(await post(client, { ...REX, ...wrong }), 400)
    expectError(await post(client, '{"name":"Rex","categoryId":9223372036854775808}'), 400)
  }),
  rule('responds with 404 if there is no animal with the id', async (client) => {
    await checkGetPet(client, UNKNOWN_PET, (response) => expectError(response, 404))
  }),
  rule('rejects every operation without a key with 401', (client) => expectRejected(client, null)),
  rule('rejects every operation with an invalid key with 401', (client) => expectRejected(client, 'Bearer not-a-key')),
  rule('sends the three rate-limit headers with every response', async (client) => {
    expectRateLimit(await client.send('GET /pets?limit=1'))
    expectRateLimit(await post(client))
    expectRateLimit(await post(client, {}))
    expectRateLimit(await client.send(`GET ${UNKNOWN_PET}`))
    expectRateLimit(await client.send('GET /pets', { authorization: null }))
  }),
  rule('sends X-RateLimit-Reset as a Unix timestamp in seconds', async (client) => {
    const { reset } = expectRateLimit(await client.send('GET /pets?limit=1'))
    // Seconds from now would be a smaller number, and milliseconds since the Unix epoch a larger
    // number.
    check(reset > 1e9 && reset < 1e11, `expected a Unix timestamp in seconds, got ${reset}`)
  }),
  rule('counts down X-RateLimit-Remaining', async (client) => {
    // Try again if a window ends between two requests, because the second request may then count in
    // another window.
    for (let i = 0; i < 3; i++) {
      const before = expectRateLimit(await client.send('GET /pets?limit=1'))
      const after = expectRateLimit(await client.send('GET /pets?limit=1'))
      if (before.reset !== after.reset || before.limit !== after.limit) continue
      return check(
        after.remaining < before.remaining,
        `expected X-RateLimit-Remaining below ${before.remaining}, got ${after.remaining}`,
      )
    }
  }),
  limitedRule('rejects a request over the limit with 429 and Retry-After', async (client) => {
    const response = await client.useUp()
    checkEqual(expectRateLimit(response).remaining, 0, `${response.name}: X-RateLimit-Remaining`)
    check((response.headers.get('Retry-After') ?? '') !== '', `${response.name}: expected Retry-After`)
  }),
]

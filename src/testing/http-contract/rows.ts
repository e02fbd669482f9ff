import { check, checkEqual } from '../contract/assert.ts'
import type { ContractClient } from './client.ts'
import {
  expectCode,
  expectError,
  expectJsonType,
  expectPet,
  expectPets,
  expectRateLimit,
  expectStatus,
} from './expectations.ts'

/** One expectation of a server. */
export interface HttpContractRow {
  /** The behaviour, in the present tense. */
  readonly title: string
  /** `contract` if the specification of the interface says so, `decision` where it is silent and this project has decided. */
  readonly basis: 'contract' | 'decision'
  /** True if the row uses up a key, which is then needed in the options. */
  readonly needsLimitedKey?: boolean
  /** Rejects with an error that says what was expected. */
  readonly check: (client: ContractClient) => Promise<void>
}

const REX = { name: 'Rex', categoryId: 1 }
const UNKNOWN_PET = '/pets/9223372036854775807'
/** The largest limit that the row about 429 uses up. */
const MAX_LIMIT = 100

const post = (client: ContractClient, body: string | object) => client.send('/pets', { method: 'POST', body })

/** The operation is removed on 5 December 2030. */
const isRemoved = (status: number) => status === 410

/** Every row. None needs a raw socket or an option of the server. */
export const httpContractRows: readonly HttpContractRow[] = [
  {
    title: 'adds an animal with 201 and its id',
    basis: 'contract',
    async check(client) {
      const { id, ...pet } = expectPet(await post(client, { ...REX, status: 'pending' }), 201)
      checkEqual(pet, { name: 'Rex', categoryId: 1n, status: 'pending' }, 'the added animal')
    },
  },
  {
    title: 'keeps integers of 64 bits exact',
    basis: 'contract',
    async check(client) {
      const pet = expectPet(await post(client, '{"name":"Rex","categoryId":9223372036854775807}'), 201)
      checkEqual(pet.categoryId, 9223372036854775807n, 'categoryId')
    },
  },
  {
    title: 'reads an added animal by its id',
    basis: 'contract',
    async check(client) {
      const added = await post(client, { name: 'Zoë 🐕', categoryId: 7 })
      const read = await client.send(`/pets/${expectPet(added, 201).id}`)
      if (!isRemoved(read.status)) checkEqual(expectPet(read, 200), added.json, read.name)
    },
  },
  {
    title: 'lists at most 20 animals by default, and at most limit animals',
    basis: 'contract',
    async check(client) {
      await post(client, REX)
      check(expectPets(await client.send('/pets')).length <= 20, 'expected at most 20 animals by default')
      checkEqual(expectPets(await client.send('/pets?limit=1')).length, 1, 'animals with limit=1')
      check(expectPets(await client.send('/pets?limit=100')).length <= 100, 'expected at most 100 animals')
    },
  },
  {
    title: 'lists only animals of the given status',
    basis: 'contract',
    async check(client) {
      await post(client, { ...REX, status: 'sold' })
      const pets = expectPets(await client.send('/pets?status=sold'))
      check(pets.length > 0 && pets.every(({ status }) => status === 'sold'), 'expected sold animals only')
    },
  },
  {
    title: 'rejects a body without a required field with 400',
    basis: 'contract',
    async check(client) {
      for (const body of [{ name: 'Rex' }, { categoryId: 1 }, {}]) expectError(await post(client, body), 400)
    },
  },
  {
    title: 'rejects a field with an invalid value with 400',
    basis: 'contract',
    async check(client) {
      for (const wrong of [{ name: 5 }, { categoryId: '1' }, { categoryId: 1.5 }, { status: 'lost' }])
        expectError(await post(client, { ...REX, ...wrong }), 400)
      expectError(await post(client, '{"name":"Rex","categoryId":9223372036854775808}'), 400)
    },
  },
  {
    title: 'responds 404 if there is no animal with the id',
    basis: 'contract',
    async check(client) {
      const response = await client.send(UNKNOWN_PET)
      if (!isRemoved(response.status)) expectError(response, 404)
    },
  },
  {
    title: 'rejects every operation without a key with 401',
    basis: 'contract',
    async check(client) {
      expectError(await client.send('/pets', { authorization: null }), 401)
      expectError(await client.send('/pets', { authorization: null, method: 'POST', body: REX }), 401)
      expectError(await client.send('/pets/1', { authorization: null }), 401)
    },
  },
  {
    title: 'rejects an invalid key with 401',
    basis: 'contract',
    async check(client) {
      expectError(await client.send('/pets', { authorization: 'Bearer not-a-key' }), 401)
    },
  },
  {
    title: 'sends the three rate-limit headers with every response',
    basis: 'contract',
    async check(client) {
      expectRateLimit(await client.send('/pets?limit=1'))
      expectRateLimit(await post(client, {}))
      expectRateLimit(await client.send(UNKNOWN_PET))
      expectRateLimit(await client.send('/pets', { authorization: null }))
    },
  },
  {
    title: 'adds an animal without a status as available',
    basis: 'decision',
    async check(client) {
      checkEqual(expectPet(await post(client, REX), 201).status, 'available', 'status')
    },
  },
  {
    title: 'ignores members that an animal does not have',
    basis: 'decision',
    async check(client) {
      const { id, ...pet } = expectPet(await post(client, '{"name":"Rex","categoryId":1,"id":0,"colour":"red"}'), 201)
      checkEqual(pet, { name: 'Rex', categoryId: 1n, status: 'available' }, 'the added animal')
      check(id !== 0n, 'expected an id of the service, got that of the body')
    },
  },
  {
    title: 'leads from page to page by ascending ids',
    basis: 'decision',
    async check(client) {
      for (let i = 0; i < 2; i++) await post(client, { ...REX, status: 'pending' })
      const first = await client.send('/pets?status=pending&limit=1')
      const [, target] = /<([^>]*)>;\s*rel="?next"?/.exec(first.headers.get('Link') ?? '') ?? []
      if (target === undefined) throw new Error(`${first.name}: expected a Link with rel="next"`)
      const second = await client.send(new URL(target, first.url).href)
      const cursor = encodeURIComponent(first.headers.get('X-Next-Cursor') ?? '')
      const same = await client.send(`/pets?status=pending&limit=1&cursor=${cursor}`)
      const [before, after] = [expectPets(first)[0], expectPets(second)[0]]
      check(
        before !== undefined && after !== undefined && before.id < after.id,
        'expected a greater id on the next page',
      )
      checkEqual(same.json, second.json, 'the page of X-Next-Cursor')
    },
  },
  {
    title: 'rejects a wrong query parameter with 400',
    basis: 'decision',
    async check(client) {
      for (const query of ['limit=0', 'limit=101', 'limit=x', 'status=lost', 'cursor=x'])
        expectCode(await client.send(`/pets?${query}`), 400, 'invalid_parameter')
    },
  },
  {
    title: 'tells a missing key from an invalid one by code and challenge',
    basis: 'decision',
    async check(client) {
      const missing = await client.send('/pets', { authorization: null })
      expectCode(missing, 401, 'missing_api_key')
      const invalid = await client.send('/pets', { authorization: 'Bearer not-a-key' })
      expectCode(invalid, 401, 'invalid_api_key')
      for (const { name, headers } of [missing, invalid])
        check(/^Bearer\b/.test(headers.get('WWW-Authenticate') ?? ''), `${name}: expected WWW-Authenticate: Bearer`)
    },
  },
  {
    title: 'rejects malformed JSON and another content type',
    basis: 'decision',
    async check(client) {
      expectCode(await post(client, '{"name":'), 400, 'malformed_json')
      expectCode(await post(client, '{"name":"Rex","name":"Ada","categoryId":1}'), 400, 'malformed_json')
      const text = { method: 'POST', contentType: 'text/plain', body: '{"name":"Rex","categoryId":1}' }
      expectCode(await client.send('/pets', text), 415, 'unsupported_media_type')
    },
  },
  {
    title: 'responds 404 to an unknown path, and 405 with Allow to an unknown method',
    basis: 'decision',
    async check(client) {
      expectCode(await client.send('/dogs'), 404, 'route_not_found')
      const deleted = await client.send('/pets', { method: 'DELETE' })
      expectCode(deleted, 405, 'method_not_allowed')
      check(
        /\bGET\b.*\bPOST\b/.test(deleted.headers.get('Allow') ?? ''),
        `${deleted.name}: expected Allow with GET, POST`,
      )
    },
  },
  {
    title: 'responds to HEAD as to GET without the body',
    basis: 'decision',
    async check(client) {
      const head = await client.send('/pets?limit=1', { method: 'HEAD' })
      expectStatus(head, 200)
      expectJsonType(head)
      checkEqual(head.text, '', `${head.name}: body`)
    },
  },
  {
    title: 'announces the removal of getPet',
    basis: 'decision',
    async check(client) {
      const { name, headers } = await client.send(UNKNOWN_PET)
      checkEqual(headers.get('Deprecation'), '@1764892800', `${name}: Deprecation`)
      checkEqual(headers.get('Sunset'), 'Thu, 05 Dec 2030 00:00:00 GMT', `${name}: Sunset`)
    },
  },
  {
    title: 'refuses a request over the limit with 429 and Retry-After',
    basis: 'contract',
    needsLimitedKey: true,
    async check(client) {
      for (let i = 0; i <= MAX_LIMIT; i++) {
        const response = await client.sendLimited('/pets?limit=1')
        if (response.status !== 429) continue
        expectRateLimit(response)
        checkEqual(response.headers.get('X-RateLimit-Remaining'), '0', `${response.name}: X-RateLimit-Remaining`)
        check((response.headers.get('Retry-After') ?? '') !== '', `${response.name}: expected Retry-After`)
        return
      }
      throw new Error(`expected a 429 after at most ${MAX_LIMIT} requests with the limited key`)
    },
  },
]

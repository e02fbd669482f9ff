import { linkTarget } from '../../../client/response.ts'
import type { ErrorCode } from '../../../errors.ts'
import { allowOf } from '../../../http/routes.ts'
import { MAX_LIMIT } from '../../../model.ts'
import type { ContractClient, ContractResponse } from './client.ts'
import {
  type ContractPet,
  check,
  checkEqual,
  expectCode,
  expectHeaders,
  expectJson,
  expectPet,
  expectPets,
  expectStatus,
} from './expectations.ts'
import { idempotencyRules } from './idempotency-rules.ts'
import { checkGetPet, type HttpRule, limitedRule, post, REX, rule, UNKNOWN_PET } from './rule.ts'

const CHALLENGE = { 'WWW-Authenticate': 'Bearer realm="petstore"' }
const INVALID_TOKEN = { 'WWW-Authenticate': 'Bearer realm="petstore", error="invalid_token"' }

function allowHeader(path: string) {
  return { Allow: allowOf(path) ?? null }
}

function linkOf({ headers }: ContractResponse, relation: string): string | undefined {
  return linkTarget(headers, relation)
}

/**
 * Requests the target of a link, but always from the tested server: another host in the link must
 * not get the API key.
 */
function follow(client: ContractClient, from: ContractResponse, target: string): Promise<ContractResponse> {
  const url = new URL(target, from.url)
  return client.send(`GET ${url.origin === new URL(from.url).origin ? url.href : `/pets${url.search}`}`)
}

export const behaviourRules: readonly HttpRule[] = [
  rule('adds an animal without a status as available', async (client) => {
    checkEqual(expectPet(await post(client), 201).status, 'available', 'status')
  }),
  rule('ignores members that an animal does not have', async (client) => {
    const body = '{"name":"Rex","categoryId":1,"id":0,"colour":"red","__proto__":{"status":"sold"}}'
    const { id, ...pet } = expectPet(await post(client, body), 201)
    checkEqual(pet, { name: 'Rex', categoryId: 1n, status: 'available' }, 'the added animal')
    check(id !== 0n, 'expected an id that the service has chosen, got the id of the body')
  }),
  rule('accepts every JSON number that is an integer', async (client) => {
    for (const number of ['7.0', '7e0'])
      checkEqual(expectPet(await post(client, `{"name":"Rex","categoryId":${number}}`), 201).categoryId, 7n, number)
  }),
  rule('sends the path of an added animal in Location', async (client) => {
    const added = await post(client)
    const path = `/pets/${expectPet(added, 201).id}`
    await checkGetPet(client, path, () => {
      const location = added.headers.get('Location') ?? ''
      check(location.endsWith(path), `expected Location to end in ${path}, got ${location || 'no header'}`)
    })
  }),
  ...idempotencyRules,
  rule('Link leads to the next page, with greater ids', async (client) => {
    for (let i = 0; i < 2; i++) await post(client, { ...REX, status: 'pending' })
    const first = await client.send('GET /pets?status=pending&limit=1')
    const { id } = onlyPet(first)
    const target = linkOf(first, 'next')
    if (target === undefined) throw new Error(`${first.name}: expected a Link with rel="next"`)
    const next = await follow(client, first, target)
    const pet = onlyPet(next)
    check(pet.id > id, `${next.name}: expected an id above ${id}, got ${pet.id}`)
    checkEqual(pet.status, 'pending', `${next.name}: status`)
  }),
  rule('X-Next-Cursor and Link lead to the same page', async (client) => {
    for (let i = 0; i < 2; i++) await post(client)
    const first = await client.send('GET /pets?limit=1')
    const cursor = first.headers.get('X-Next-Cursor') ?? ''
    check(cursor !== '', `${first.name}: expected X-Next-Cursor`)
    const target = new URL(linkOf(first, 'next') ?? '', first.url)
    checkEqual(target.searchParams.get('cursor'), cursor, `${first.name}: cursor in Link`)
    const next = await client.send(`GET /pets?limit=1&cursor=${encodeURIComponent(cursor)}`)
    check(onlyPet(next).id > onlyPet(first).id, `${next.name}: expected a greater id than on the page before`)
  }),
  rule('sends no next Link with the last page', async (client) => {
    const page = await client.send(`GET /pets?status=sold&limit=${MAX_LIMIT}`)
    // On a server with many animals, this page is not the last page, so there is nothing to check.
    if (expectPets(page).length === MAX_LIMIT) return
    checkEqual(linkOf(page, 'next'), undefined, `${page.name}: Link to the next page`)
    expectHeaders(page, { 'X-Next-Cursor': null })
  }),
  rule('rejects a wrong or repeated query parameter with 400', async (client) => {
    for (const query of ['limit=0', 'limit=101', 'limit=%2B5', 'limit=05', 'limit=1e1', 'limit=', 'limit=1&limit=2'])
      expectNamed(await client.send(`GET /pets?${query}`), 'invalid_parameter', ['limit'])
    for (const query of ['status=lost', 'status=Sold', 'status=', 'status=sold&status=sold', 'cursor=x'])
      expectCode(await client.send(`GET /pets?${query}`), 'invalid_parameter')
  }),
  rule('ignores unknown query parameters', async (client) => {
    expectPets(await client.send('GET /pets?limit=1&colour=red'))
  }),
  rule('responds with 404 to an id that is not a canonical int64', async (client) => {
    for (const id of ['abc', '01', '-0', '9223372036854775808'])
      await checkGetPet(client, `/pets/${id}`, (response) => expectCode(response, 'pet_not_found'))
  }),
  rule('a missing key and an invalid key get different codes', async (client) => {
    expectCode(await client.send('GET /pets', { authorization: null }), 'missing_api_key', CHALLENGE)
    const { token } = client
    for (const authorization of ['Bearer not-a-key', 'Bearer', 'Bearer a b', `Bearer ${token}, Bearer ${token}`])
      expectCode(await client.send('GET /pets', { authorization }), 'invalid_api_key', INVALID_TOKEN)
  }),
  rule('WWW-Authenticate has no error= for a scheme other than Bearer', async (client) => {
    expectCode(await client.send('GET /pets', { authorization: 'Basic YTpi' }), 'invalid_api_key', CHALLENGE)
  }),
  rule('ignores the case of the scheme Bearer', async (client) => {
    for (const scheme of ['bearer', 'BEARER  '])
      expectPets(await client.send('GET /pets?limit=1', { authorization: `${scheme} ${client.token}` }))
  }),
  rule(
    'a key that may only read lists animals, and gets 403 if it adds one',
    async (client) => {
      const authorization = `Bearer ${client.readOnlyToken}`
      expectPets(await client.send('GET /pets?limit=1', { authorization }))
      const refused = await client.send('POST /pets', { authorization, body: REX })
      expectCode(refused, 'read_only_key', { 'WWW-Authenticate': null })
    },
    'readOnlyToken',
  ),
  rule('rejects malformed JSON with 400', async (client) => {
    for (const body of ['{"name":', '{"name":"Rex" "categoryId":1}', 'null x', "{'name':1}", ''])
      expectCode(await post(client, body), 'malformed_json')
  }),
  rule('rejects a repeated member name with 400', async (client) => {
    expectCode(await post(client, '{"name":"Rex","name":"Ada","categoryId":1}'), 'malformed_json')
  }),
  rule('rejects deep nesting with 400', async (client) => {
    const deep = `{"name":"Rex","categoryId":1,"x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`
    expectCode(await post(client, deep), 'malformed_json')
  }),
  rule('accepts UTF-8 with a byte order mark, and rejects invalid UTF-8', async (client) => {
    expectPet(await post(client, '\uFEFF{"name":"Rex","categoryId":1}'), 201)
    const bytes = new TextEncoder().encode('{"name":"R","categoryId":1}')
    bytes[bytes.indexOf(0x52)] = 0xff
    expectCode(await post(client, bytes), 'malformed_json')
  }),
  rule('names every wrong field of a body', async (client) => {
    const response = await post(client, { name: '', categoryId: '1', status: 5 })
    expectNamed(response, 'invalid_body', ['name', 'categoryId', 'status'])
  }),
  rule('rejects a body that is not an object, and a blank name', async (client) => {
    for (const body of ['[]', 'null', '5', '"x"', '{"name":" ","categoryId":1}', '{"name":"\\u0000","categoryId":1}'])
      expectCode(await post(client, body), 'invalid_body')
  }),
  rule('accepts only JSON in UTF-8; the 415 has the header Accept', async (client) => {
    for (const type of ['application/json;charset=utf-8', 'Application/JSON; charset="UTF-8"'])
      expectPet(await post(client, REX, { 'Content-Type': type }), 201)
    for (const type of ['text/plain', 'application/json; charset=latin1', 'application/x-www-form-urlencoded']) {
      const response = await post(client, REX, { 'Content-Type': type })
      expectCode(response, 'unsupported_media_type', { Accept: 'application/json' })
    }
  }),
  rule('rejects a content coding with 415 and Accept-Encoding', async (client) => {
    const response = await post(client, REX, { 'Content-Encoding': 'gzip' })
    expectCode(response, 'unsupported_media_type', { 'Accept-Encoding': 'identity' })
  }),
  rule('checks the key, then responds with 404 to an unknown path', async (client) => {
    for (const path of ['', '/', '/dogs', '/pets/1/owner', '/PETS'])
      expectCode(await client.send(`GET ${path}`), 'route_not_found')
    expectCode(await client.send('GET /dogs', { authorization: null }), 'missing_api_key')
  }),
  rule('ignores one trailing slash', async (client) => {
    expectPets(await client.send('GET /pets/?limit=1'))
    expectCode(await client.send('GET /pets//'), 'route_not_found')
  }),
  rule('responds with 405 and Allow to an unknown method', async (client) => {
    for (const method of ['DELETE', 'PUT', 'PATCH'])
      expectCode(await client.send(`${method} /pets`), 'method_not_allowed', allowHeader('/pets'))
    expectCode(await client.send(`DELETE ${UNKNOWN_PET}`), 'method_not_allowed', allowHeader(UNKNOWN_PET))
  }),
  rule('responds to HEAD like GET, without the body', async (client) => {
    for (const path of ['/pets?limit=1', UNKNOWN_PET]) {
      const whole = await client.send(`GET ${path}`)
      const head = await client.send(`HEAD ${path}`)
      expectJson(head, whole.status)
      checkEqual(head.text, '', `${head.name}: body`)
      const length = String(new TextEncoder().encode(whole.text).length)
      // The header is optional (RFC 9110, section 8.6): proxies that compress bodies leave it out.
      if (head.headers.has('Content-Length')) expectHeaders(head, { 'Content-Length': length })
    }
  }),
  rule('responds to OPTIONS with 204 and Allow', async (client) => {
    const response = await client.send('OPTIONS /pets')
    expectStatus(response, 204)
    expectHeaders(response, allowHeader('/pets'))
  }),
  rule('announces the removal of getPet', async (client) => {
    const response = await client.send(`GET ${UNKNOWN_PET}`)
    expectHeaders(response, { Deprecation: '@1764892800', Sunset: 'Thu, 05 Dec 2030 00:00:00 GMT' })
    const target = linkOf(response, 'successor-version')
    check(target?.endsWith('/pets') === true, `${response.name}: expected a Link to /pets with rel="successor-version"`)
  }),
  rule('sends X-Content-Type-Options: nosniff with every response', async (client) => {
    for (const request of [{}, { authorization: null }])
      expectHeaders(await client.send('GET /pets?limit=1', request), { 'X-Content-Type-Options': 'nosniff' })
  }),
  limitedRule('sends Retry-After in whole seconds, and a code, with a 429', async (client) => {
    const response = await client.useUp()
    const seconds = response.headers.get('Retry-After') ?? ''
    check(/^[1-9]\d*$/.test(seconds), `${response.name}: expected whole seconds in Retry-After`)
    const { code } = Object(response.json) as { code?: string }
    expectCode(response, code === 'api_key_banned' ? code : 'rate_limit_exceeded')
  }),
]

function expectNamed(response: ContractResponse, code: ErrorCode, fields: readonly string[]): void {
  const message = expectCode(response, code)
  for (const field of fields)
    check(message.includes(field), `${response.name}: expected a message that names ${field}, got ${message}`)
}

function onlyPet(page: ContractResponse): ContractPet {
  const [pet, ...others] = expectPets(page)
  if (pet === undefined || others.length > 0) throw new Error(`${page.name}: expected one animal, got ${page.text}`)
  return pet
}

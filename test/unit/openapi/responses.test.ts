import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, test, vi } from 'vitest'
import { type ErrorCode, PetStoreError } from '../../../src/errors.ts'
import { tooLarge } from '../../../src/http/read-body.ts'
import { type ApiRequest, createPetStore, memory, type PetStorage, type PetStoreOptions } from '../../../src/index.ts'
import { openApiDocument } from '../../../src/openapi/index.ts'
import { type OperationName, operations as operationTable } from '../../../src/operations.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { operationRequests } from '../../support/operation-requests.ts'
import { responseChecker } from '../../support/response-checker.ts'

const document = openApiDocument(createPetStore())
const check = responseChecker(document)

/** How to cause a response: the request to send, and the options of the store. */
interface Provocation {
  readonly request?: Partial<
    Record<'method' | 'path' | 'authorization' | 'contentType' | 'body' | 'expect' | 'idempotencyKey', string>
  >
  readonly bodyError?: PetStoreError
  /** Reading the headers throws this error, as if the host's HTTP parser had found it. */
  readonly headerError?: ErrorCode
  readonly options?: PetStoreOptions
  /** How many requests to send before the main request. */
  readonly before?: number
}

const throwing = (error: Error) => () => {
  throw error
}
const failing = (error: Error) => ({ list: throwing(error), create: throwing(error), get: throwing(error) })
const halfMinute = manualClock(Date.UTC(2026, 0, 1, 0, 0, 30))
const tiny = { free: { perMinute: 1, perDay: 10 } }

/** Requests whose response has every header of the operation. */
const successes: Partial<Record<OperationName, Provocation>> = {
  createPet: { request: { idempotencyKey: 'order-1' }, before: 1 },
}

const usedForAnother: PetStorage['create'] = (pet) => ({ id: 1n, ...pet, earlier: 'different' })

/** How to cause each error of an operation. */
const provocations: Readonly<Record<Exclude<ErrorCode, 'route_not_found' | 'method_not_allowed'>, Provocation>> = {
  bad_request: { headerError: 'bad_request' },
  invalid_parameter: { request: { path: '/pets?limit=500' } },
  malformed_json: { request: { body: '{"name": "Rex"' } },
  invalid_body: { request: { body: '{"name":"Rex","categoryId":"1"}' } },
  invalid_idempotency_key: { request: { idempotencyKey: 'order 1' } },
  idempotency_key_reused: {
    request: { idempotencyKey: 'order-1' },
    options: { storage: { ...memory().storage, create: usedForAnother } },
  },
  incomplete_body: { bodyError: new PetStoreError('incomplete_body') },
  missing_api_key: { request: { authorization: '' } },
  invalid_api_key: { request: { authorization: 'Bearer x' } },
  read_only_key: { options: { keyStore: { find: () => ({ id: 'a', plan: 'free', access: 'read' }) } } },
  pet_not_found: { request: { path: '/pets/77' } },
  request_timeout: { headerError: 'request_timeout' },
  operation_removed: { options: { clock: manualClock(Date.UTC(2031, 0)) } },
  payload_too_large: { bodyError: tooLarge(65_536) },
  unsupported_media_type: { request: { contentType: 'text/plain' } },
  expectation_failed: { request: { expect: 'tea' } },
  rate_limit_exceeded: { before: 1, options: { plans: tiny, ban: false, clock: halfMinute } },
  api_key_banned: { before: 2, options: { plans: tiny, ban: { afterRefusals: 1, seconds: 30 }, clock: halfMinute } },
  request_header_fields_too_large: { headerError: 'request_header_fields_too_large' },
  body_already_read: { bodyError: new PetStoreError('body_already_read') },
  internal_error: { options: { storage: failing(new Error('broken')) } },
  service_unavailable: { options: { storage: failing(new PetStoreError('service_unavailable')) } },
}

/** Sends requests to a new store with three animals, and checks every response against the OpenAPI document. */
async function provoke(
  operation: OperationName,
  { request, bodyError, headerError, options, before = 0 }: Provocation = {},
) {
  const clock = options?.clock ?? manualClock()
  const backEnd = memory({ clock })
  const { token } = await backEnd.keyStore.issue({ plan: 'free' })
  await backEnd.storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })
  await backEnd.storage.create({ name: 'Ada', categoryId: 2n, status: 'sold' })
  await backEnd.storage.create({ name: 'Tom', categoryId: 2n, status: 'pending' })
  const { handle } = createPetStore({ ...backEnd, onError: () => {}, ...options, clock })
  const { method } = operationTable[operation]
  const sent = { method, authorization: `Bearer ${token}`, body: '', ...operationRequests[operation], ...request }
  const headers: Readonly<Record<string, string | undefined>> = {
    authorization: sent.authorization || undefined,
    'content-type': sent.contentType,
    expect: sent.expect,
    'idempotency-key': sent.idempotencyKey,
  }
  const apiRequest: ApiRequest = {
    method: sent.method,
    target: `/v1${sent.path}`,
    header(name) {
      if (headerError && name === 'authorization') throw new PetStoreError(headerError)
      return headers[name]
    },
    async body() {
      if (bodyError) throw bodyError
      return new TextEncoder().encode(sent.body)
    },
  }
  for (let i = 0; i < before; i++) await handle(apiRequest)
  const { status, headers: pairs, body } = await handle(apiRequest)
  const received: Record<string, string> = {}
  for (let i = 0; i < pairs.length; i += 2) received[String(pairs[i]).toLowerCase()] = String(pairs[i + 1])
  check({ method: sent.method, path: String(sent.path).split('?')[0] ?? '', status, headers: received, body })
  return { status, headers: received, body: JSON.parse(body) as unknown }
}

const operations = Object.values(document.paths).flatMap((item) => Object.values(item)) as {
  operationId: OperationName
  responses: Record<string, { headers: object; content: { 'application/json': { examples?: object } } }>
}[]

describe.each(operations)('the OpenAPI document about $operationId', ({ operationId, responses }) => {
  const codes = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([, { content }]) => Object.keys(content['application/json'].examples ?? {}))

  test.each(codes as (keyof typeof provocations)[])('the example of the error %s is a real response', async (code) => {
    const { value } = document.components.examples[code] as { value: object }
    expect((await provoke(operationId, provocations[code])).body).toEqual(value)
  })

  test('the document lists the successful response with its headers', async () => {
    const { status, headers } = await provoke(operationId, successes[operationId])
    expect(Object.keys(responses)[0]).toBe(String(status))
    const declared = Object.keys(responses[status]?.headers ?? {}).map((name) => name.toLowerCase())
    expect(
      Object.keys(headers)
        .filter((name) => name !== 'content-type')
        .sort(),
    ).toEqual(declared.sort())
  })
})

test('the example of a page is a real response to GET /pets?limit=2', async () => {
  const { body, headers } = await provoke('listPets', { request: { path: '/pets?limit=2' } })
  const page = { value: body }
  expect(document.paths['/pets']?.get).toMatchObject({
    responses: { 200: { content: { 'application/json': { examples: { page } } } } },
  })
  expect(document.components.headers).toMatchObject({
    NextPage: { examples: { page: { value: headers.link } } },
    'X-Next-Cursor': { examples: { page: { value: headers['x-next-cursor'] } } },
  })
})

describe('the schemas of requests', () => {
  const ajv = new Ajv2020({ strict: false, formats: { int64: true } })
  ajv.addSchema({ $id: 'document', ...document })
  const bodies = [
    ...['Rex', '', ' ', '\u0085', 'a\u0000b', 'x'.repeat(1_000), 'x'.repeat(1_001), 7].map((name) => ({
      name,
      categoryId: 1,
    })),
    ...[0, -1, 1.5, '1', null].map((categoryId) => ({ name: 'Rex', categoryId })),
    ...['available', 'pending', 'sold', 'SOLD', '', null].map((status) => ({ name: 'Rex', categoryId: 1, status })),
    ...[{}, [], 'Rex', null, { name: 'Rex' }, { categoryId: 1 }, { name: 'Rex', categoryId: 1, colour: 'red' }],
  ]

  test.each(bodies)('the schema and the service agree about the body %j', async (body) => {
    const isValid = ajv.validate('document#/components/schemas/PetToAdd', body)
    const { status } = await provoke('createPet', { request: { body: JSON.stringify(body) } })
    expect(status).toBe(isValid ? 201 : 400)
  })

  const { parameters } = operations[0] as unknown as {
    parameters: { name: string; schema: { default?: number } }[]
  }
  const queries = [
    ...[0, 1, 100, 101, 1.5].map((value) => ({ name: 'limit', value })),
    ...['available', 'pending', 'sold', 'SOLD'].map((value) => ({ name: 'status', value })),
  ]

  test.each(queries)('the schema and the service agree about $name=$value', async ({ name, value }) => {
    const index = parameters.findIndex((parameter) => parameter.name === name)
    const isValid = ajv.validate(`document#/paths/~1pets/get/parameters/${index}/schema`, value)
    const { status } = await provoke('listPets', { request: { path: `/pets?${name}=${value}` } })
    expect(status).toBe(isValid ? 200 : 400)
  })

  test('the document states the default limit of a page', async () => {
    const list = vi.fn(() => [])
    await provoke('listPets', { request: { path: '/pets' }, options: { storage: { ...memory().storage, list } } })
    const { default: limit = 0 } = parameters.find(({ name }) => name === 'limit')?.schema ?? {}
    // The service asks for one animal more, which shows whether there is a next page.
    expect(list).toHaveBeenCalledWith(expect.objectContaining({ limit: limit + 1 }), expect.anything())
  })
})

import { describe, expect, test, vi } from 'vitest'
import { createPetStore, type PetStoreOptions } from '../../../src/index.ts'
import { openApiDocument } from '../../../src/openapi/index.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'
import { startServer } from '../../support/node-server.ts'
import { rawConnection } from '../../support/raw-http.ts'
import { responseChecker } from '../../support/response-checker.ts'

const UUID = /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/
const ID = 'order-7:a.b+c/d=e~f_g'

/** Sends a request to a new store, and returns the id of its response. */
async function idOf(init: RequestInit = {}, options: PetStoreOptions = {}, path = '/v1/pets') {
  const { fetch } = createPetStore({ requestId: true, onError: () => {}, ...options })
  return (await fetch(new Request(`http://localhost${path}`, init))).headers.get('x-request-id')
}

const failing = () => {
  throw new Error('broken')
}

describe('the id of a response', () => {
  test('a new id is a random UUID', async () => {
    const ids = [await idOf(), await idOf()]
    for (const id of ids) expect(id).toMatch(UUID)
    expect(new Set(ids).size).toBe(2)
  })

  test('a new id is a random UUID without crypto.randomUUID', async () => {
    vi.stubGlobal('crypto', { getRandomValues: crypto.getRandomValues.bind(crypto), subtle: crypto.subtle })
    try {
      const ids = [await idOf(), await idOf()]
      for (const id of ids) expect(id).toMatch(UUID)
      expect(new Set(ids).size).toBe(2)
    } finally {
      vi.unstubAllGlobals()
    }
  })

  test.each([ID, 'x', 'x'.repeat(128)])('the id %s of the client is taken over', async (id) => {
    expect(await idOf({ headers: { 'x-request-id': id } })).toBe(id)
  })

  test.each(['', 'a b', 'a,b', 'a"b', 'a;b', '<b>', 'é', 'x'.repeat(129)])(
    'the id "%s" of the client is replaced',
    async (id) => {
      expect(await idOf({ headers: { 'x-request-id': id } })).toMatch(UUID)
    },
  )

  test('two ids in one request are replaced', async () => {
    const headers = new Headers({ 'x-request-id': 'a' })
    headers.append('x-request-id', 'b')
    expect(await idOf({ headers })).toMatch(UUID)
  })

  const preflight = { origin: 'https://a.example', 'access-control-request-method': 'POST' }
  test.each<[string, RequestInit, PetStoreOptions, string?]>([
    ['an unknown expectation', { headers: { expect: 'tea' } }, {}],
    ['a preflight', { method: 'OPTIONS', headers: preflight }, { cors: true }],
    ['a path outside the base path', {}, {}, '/'],
    ['a failing key store', { headers: { authorization: 'Bearer x' } }, { keyStore: { find: failing } }],
    ['a broken clock', {}, { clock: { now: () => Number.NaN } }],
    ['HEAD', { method: 'HEAD' }, {}],
  ])('the response to %s has the id of the client', async (_, { headers, ...init }, options, path) => {
    const sent = { ...init, headers: { ...(headers as Record<string, string>), 'x-request-id': ID } }
    expect(await idOf(sent, options, path)).toBe(ID)
  })

  test('a request whose headers cannot be read gets a new id', async () => {
    const { handle } = createPetStore({ requestId: true, onError: () => {} })
    const { headers } = await handle({ method: 'GET', target: '/v1/pets', header: failing, body: failing })
    expect(headers[headers.indexOf('X-Request-Id') + 1]).toMatch(UUID)
  })

  test('without the option, no response has an id', async () => {
    expect(await idOf({ headers: { 'x-request-id': ID } }, { requestId: false })).toBe(null)
    expect(await idOf({ headers: { 'x-request-id': ID } }, { requestId: undefined })).toBe(null)
  })
})

describe('reports', () => {
  test('both reports have the id of the response', async () => {
    const onError = vi.fn()
    const onResponse = vi.fn()
    const keyStore = { find: failing }
    const id = await idOf({ headers: { authorization: 'Bearer x' } }, { keyStore, onError, onResponse })
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(Error), expect.objectContaining({ requestId: id }))
    expect(onResponse).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ requestId: id }))
  })

  test('an error before the pipeline begins has the id of its response', async () => {
    const onError = vi.fn()
    const id = await idOf({}, { clock: { now: () => Number.NaN }, onError })
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(Error), expect.objectContaining({ requestId: id }))
  })

  test('an error of onResponse has the id of the response', async () => {
    const onError = vi.fn()
    const id = await idOf({}, { onResponse: failing, onError })
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(Error), expect.objectContaining({ requestId: id }))
  })
})

describe('routes of the host', () => {
  test('an admission has the id, whether it succeeds or fails', async () => {
    const { admit, keyStore } = createPetStore({ requestId: true })
    const { token } = await keyStore.issue({ plan: 'free' })
    const ask = (headers: Record<string, string>) =>
      admit(new Request('http://localhost/orders', { headers: { 'x-request-id': ID, ...headers } }))
    expect((await ask({ authorization: `Bearer ${token}` })).headers?.get('x-request-id')).toBe(ID)
    expect((await ask({})).response?.headers.get('x-request-id')).toBe(ID)
  })
})

describe('CORS', () => {
  test('pages may send and read the id', async () => {
    const { fetch: send } = createPetStore({ requestId: true, cors: { headers: ['traceparent'] } })
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'POST' }
    const { headers: allowed } = await send(new Request('http://localhost/v1/pets', { method: 'OPTIONS', headers }))
    expect(allowed.get('access-control-allow-headers')).toBe(
      'Authorization, Content-Type, Idempotency-Key, X-Request-Id, traceparent',
    )
    expect(allowed.get('access-control-expose-headers')).toContain(', X-Request-Id')
  })
})

describe('the OpenAPI document', () => {
  test('the document describes the header of a real response', async () => {
    const { petStore, request } = await createTestPetStore({ requestId: true })
    const document = openApiDocument(petStore)
    expect(document.components.headers).toHaveProperty('X-Request-Id')
    const check = responseChecker(document)
    for (const path of ['/pets', '/pets/7', '/pets?limit=x']) {
      const response = await request(path)
      check({
        method: 'GET',
        path: path.split('?')[0] ?? '',
        status: response.status,
        headers: Object.fromEntries(response.headers),
        body: await response.text(),
      })
    }
  })

  test('without the option, the document has no such header', () => {
    expect(JSON.stringify(openApiDocument(createPetStore()))).not.toContain('X-Request-Id')
  })
})

describe('the test store', () => {
  test('the journal and the errors of the client have the id', async () => {
    const { client, requests } = await createTestPetStore({ requestId: true })
    const error = await client.getPet(7n).catch((reason) => reason)
    expect(error).toMatchObject({ code: 'pet_not_found', requestId: expect.stringMatching(UUID) })
    expect(requests[0]).toMatchObject({ requestId: error.requestId })
  })

  test('without the option, neither has an id', async () => {
    const { client, requests } = await createTestPetStore()
    const error = await client.getPet(7n).catch((reason) => reason)
    expect(error).not.toHaveProperty('requestId')
    expect(requests[0]?.requestId).toBeUndefined()
  })
})

describe('serve', () => {
  test.each([
    [400, 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n'],
    [431, `GET /v1/pets HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(100_000)}\r\n\r\n`],
  ])('a %i for broken HTTP has an id, and its report too', async (status, bytes) => {
    const onResponse = vi.fn()
    const { url } = await startServer({ store: { requestId: true, onResponse } })
    const connection = await rawConnection(url)
    await connection.send(bytes)
    const { headers, ...response } = await connection.answer()
    expect(response.status).toBe(status)
    expect(headers['x-request-id']).toMatch(UUID)
    expect(onResponse).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({ status, requestId: headers['x-request-id'] }),
    )
  })

  test('a response over Node http has the id of the client', async () => {
    const { url } = await startServer({ store: { requestId: true } })
    const response = await fetch(`${url}/v1/pets`, { headers: { 'x-request-id': ID } })
    expect([response.status, response.headers.get('x-request-id')]).toEqual([401, ID])
  })

  test('the 500 for a failed wrapper of the host has an id, and its report too', async () => {
    const onError = vi.fn()
    const handle = () => Promise.reject(new Error('of the host'))
    const { url } = await startServer({
      store: { requestId: true, onError },
      wrap: (petStore) => ({ ...petStore, handle }),
    })
    const response = await fetch(`${url}/v1/pets`, { headers: { 'x-request-id': ID } })
    expect([response.status, response.headers.get('x-request-id')]).toEqual([500, ID])
    expect(onError).toHaveBeenCalledExactlyOnceWith(expect.any(Error), expect.objectContaining({ requestId: ID }))
  })
})

import { describe, expect, test } from 'vitest'
import { type LoggedRequest, logRequests, rememberKeys } from '../../../../adapters/cli/page/request-log.ts'
import { createPetStore, memory, toApiRequest } from '../../../../src/index.ts'

const FIXED = 'fixed-token-of-a-flag'
const OTHER = 'other~token/of+a.flag'

/** Creates a pet store with a log and one key. Its second token is `FIXED`, without `pet_`: `--key` allows such tokens. */
async function loggedStore() {
  const backEnd = memory()
  const { token, key } = await backEnd.keyStore.issue({ plan: 'free', label: 'front desk' })
  const find = (text: string) => (text === FIXED ? key : backEnd.keyStore.find(text))
  const { keyOf, keyStore } = rememberKeys({ find })
  const store = logRequests(createPetStore({ ...backEnd, keyStore }), keyOf, [FIXED, OTHER])
  const send = (path: string, init: RequestInit = {}, bearer = token) => {
    const headers = { authorization: `Bearer ${bearer}`, ...init.headers }
    return store.handle(toApiRequest(new Request(`http://localhost${path}`, { ...init, headers }), '127.0.0.1'))
  }
  const requestsAfter = (id: number) => store.entriesAfter(id) as readonly LoggedRequest[]
  return { requestsAfter, store, send, token, key }
}

function post(body: string): RequestInit {
  return { method: 'POST', body, headers: { 'content-type': 'application/json', 'user-agent': 'curl/8.5.0' } }
}

describe('the request log', () => {
  test('the log contains each request with its key and its response', async () => {
    const { requestsAfter, send, key } = await loggedStore()
    await send('/v1/pets', post('{"name":"Rex","categoryId":1}'))
    expect(requestsAfter(0)).toMatchObject([
      {
        id: 1,
        method: 'POST',
        target: '/v1/pets',
        headers: { 'Content-Type': 'application/json', 'User-Agent': 'curl/8.5.0' },
        body: '{"name":"Rex","categoryId":1}',
        hasToken: true,
        key: { id: key.id, plan: 'free', label: 'front desk' },
        status: 201,
        responseBody: expect.stringContaining('"name":"Rex"'),
        isCut: false,
      },
    ])
  })

  test('the log contains no key for an invalid token', async () => {
    const { requestsAfter, send } = await loggedStore()
    await send('/v1/pets', {}, 'wrong-token')
    const [request] = requestsAfter(0)
    expect([request?.status, request?.hasToken, request?.key]).toEqual([401, true, undefined])
  })

  test('the log returns the requests after an id, the oldest first', async () => {
    const { requestsAfter, send } = await loggedStore()
    for (let i = 0; i < 3; i++) await send(`/v1/pets?limit=${i + 1}`)
    expect(requestsAfter(1).map(({ id, target }) => [id, target])).toEqual([
      [2, '/v1/pets?limit=2'],
      [3, '/v1/pets?limit=3'],
    ])
  })

  test('the log keeps the last 100 requests', async () => {
    const { requestsAfter, send } = await loggedStore()
    for (let i = 0; i < 102; i++) await send('/v1/pets')
    expect(requestsAfter(0).map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, i) => i + 3))
  })

  test('the log cuts long texts, and says so', async () => {
    const { requestsAfter, send } = await loggedStore()
    await send(`/v1/pets/${'9'.repeat(5_000)}`, post(`{"name":"${'x'.repeat(50_000)}"}`))
    await send('/v1/pets', post(`{"name":"${'x'.repeat(50_000)}"}`))
    const [byPath, byBody] = requestsAfter(0)
    expect([byPath?.isCut, byPath?.target.length]).toEqual([true, 1_001])
    expect([byBody?.isCut, byBody?.body.length]).toEqual([true, 10_001])
  })

  test('the log keeps about a million characters at most', async () => {
    const { requestsAfter, send } = await loggedStore()
    const agent = 'a'.repeat(8_000)
    for (let i = 0; i < 100; i++)
      await send(`/v1/pets?limit=${'1'.repeat(8_000)}`, {
        ...post(`"${'x'.repeat(60_000)}"`),
        headers: { 'user-agent': agent, accept: agent },
      })
    const requests = requestsAfter(0)
    expect(requests.at(-1)?.id).toBe(100)
    expect(JSON.stringify(requests).length).toBeLessThan(1_100_000)
  })

  test('the log keeps line breaks of a body, and escapes invisible characters', async () => {
    const { requestsAfter, send } = await loggedStore()
    await send('/v1/pets', post('{\r\n\t"name": "a\u009b\u202e"\n}'))
    expect(requestsAfter(0)[0]?.body).toBe('{\n\t"name": "a\\u009b\\u202e"\n}')
  })

  test.each([
    ['the key that sends the request', (token: string) => token],
    ['the flag --key', () => FIXED],
    ['another flag --key', () => OTHER],
    ['another key', () => `pet_${'a'.repeat(40)}`],
  ])('the log hides the token of %s in every part of a request', async (_, tokenOf) => {
    const { requestsAfter, send, token } = await loggedStore()
    const secret = tokenOf(token)
    const bearer = secret === FIXED ? FIXED : token
    await send(`/v1/pets?limit=${secret}&cursor=${secret}`, {}, bearer)
    await send(`/v1/pets?api_key=${secret}`, {}, bearer)
    await send(`/v1/${secret}`, {}, bearer)
    await send('/v1/pets', post(`{"name":"${secret}","categoryId":1}`), bearer)
    await send('/v1/pets', { headers: { 'user-agent': secret, 'x-api-key': secret, cookie: `key=${secret}` } }, bearer)
    const text = JSON.stringify(requestsAfter(0))
    expect(requestsAfter(0)).toHaveLength(5)
    expect(text).not.toContain(secret)
    expect(text).not.toContain(secret.slice(1))
    expect(text.toLowerCase()).not.toContain('"authorization"')
  })

  test('a change of an animal stands between the requests', async () => {
    const { store, send } = await loggedStore()
    await send('/v1/pets')
    const change = { call: 'petStore.pets.remove(7n)', pet: '{"id":7}', isRemoved: true }
    store.logChange(change)
    await send('/v1/pets')
    expect(store.entriesAfter(1)).toMatchObject([
      { id: 2, ...change },
      { id: 3, method: 'GET' },
    ])
  })

  test('the log hides query parameters that the API does not have', async () => {
    const { requestsAfter, send } = await loggedStore()
    await send('/v1/pets?status=sold&access_token=something&limit=5')
    expect(requestsAfter(0)[0]?.target).toBe('/v1/pets?status=sold&***&limit=5')
  })
})

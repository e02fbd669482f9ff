import { describe, expect, test, vi } from 'vitest'
import { documentRoute } from '../../../../adapters/cli/openapi/openapi.ts'
import { withSite } from '../../../../adapters/hosts/node/site.ts'
import { createPetStore, type PetStoreOptions, toApiRequest } from '../../../../src/index.ts'
import { openApiDocument } from '../../../../src/openapi/index.ts'

vi.mock('../../../../src/openapi/index.ts', { spy: true })

/** Requests the OpenAPI document from a server with these options. */
async function get(options: PetStoreOptions, headers: Record<string, string> = {}) {
  const petStore = createPetStore(options)
  const { handle } = withSite(petStore, { '/openapi.json': documentRoute(petStore) })
  const response = await handle(toApiRequest(new Request('http://a/openapi.json', { headers })))
  const names = response.headers.filter((_, index) => index % 2 === 0)
  const body = 'bytes' in response ? String(response.bytes) : response.body
  return { ...response, body, headers: Object.fromEntries(names.map((name, i) => [name, response.headers[2 * i + 1]])) }
}

describe('GET /openapi.json', () => {
  test('GET /openapi.json needs no key and is not counted', async () => {
    const { status, headers, body } = await get({})
    expect([status, headers['Content-Type'], JSON.parse(body)]).toEqual([
      200,
      'application/json',
      openApiDocument(createPetStore()),
    ])
    expect(headers).not.toHaveProperty('X-RateLimit-Limit')
  })

  test("the document contains the server's address and plans", async () => {
    const options = { publicUrl: 'https://a.test', basePath: '/x', plans: { free: { perMinute: 1, perDay: 2 } } }
    const { body } = await get(options)
    expect(JSON.parse(body)).toMatchObject({
      servers: [{ url: 'https://a.test/x' }],
      'x-rate-limits': { free: { perMinute: 1, perDay: 2 } },
    })
  })

  test.each([
    ['the host of the request', {}, { host: 'localhost:3000' }, 'http://localhost:3000/v1'],
    ['an IPv6 address', {}, { host: '[::1]:3000' }, 'http://[::1]:3000/v1'],
    ['the root of the host', { basePath: '/' }, { host: 'a.test' }, 'http://a.test/'],
    ['the public URL', { publicUrl: 'https://a.test' }, { host: 'b.test' }, 'https://a.test/v1'],
    ['a path behind a proxy', {}, { host: 'a.test', 'x-forwarded-for': '192.0.2.1' }, '/v1'],
    ['a path for a strange host', {}, { host: 'a.test/<b>' }, '/v1'],
  ] as const)('the address in the document is %s', async (_, options, headers, url) => {
    const { body } = await get(options, headers)
    expect(JSON.parse(body)).toEqual({ ...openApiDocument(createPetStore(options)), servers: [{ url }] })
  })

  test('the document is written once for all hosts', async () => {
    vi.mocked(openApiDocument).mockClear()
    const petStore = createPetStore()
    const { handle } = withSite(petStore, { '/openapi.json': documentRoute(petStore) })
    const send = (host: string) => handle(toApiRequest(new Request('http://a/openapi.json', { headers: { host } })))
    for (let i = 0; i < 20; i++) await send(`host-${i}.test`)
    expect(openApiDocument).toHaveBeenCalledOnce()
  })

  test('documents of different hosts have different entity tags', async () => {
    const tags = await Promise.all(['a.test', 'b.test', ''].map(async (host) => (await get({}, { host })).headers.ETag))
    expect(new Set(tags).size).toBe(3)
  })

  test('web pages of every origin may read the document', async () => {
    const { headers } = await get({}, { origin: 'https://editor.example' })
    expect(headers['Access-Control-Allow-Origin']).toBe('*')
  })

  test('an unchanged document gets 304', async () => {
    const { headers } = await get({})
    const again = await get({}, { 'if-none-match': String(headers.ETag) })
    expect([again.status, again.body, again.headers.ETag]).toEqual([304, '', headers.ETag])
  })
})

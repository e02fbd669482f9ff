import { describe, expect, test } from 'vitest'
import { type DocumentOptions, documentRoute } from '../../../adapters/cli/openapi.ts'
import { withSite } from '../../../adapters/cli/site.ts'
import { createPetStore, toApiRequest } from '../../../src/index.ts'
import { openApiDocument } from '../../../src/openapi/index.ts'

/** Requests the OpenAPI document from a server with these options. */
async function get(options: DocumentOptions, headers: Record<string, string> = {}) {
  const { handle } = withSite(createPetStore(), { '/openapi.json': documentRoute(options) })
  const response = await handle(toApiRequest(new Request('http://a/openapi.json', { headers })))
  const names = response.headers.filter((_, index) => index % 2 === 0)
  const body = 'bytes' in response ? String(response.bytes) : response.body
  return { ...response, body, headers: Object.fromEntries(names.map((name, i) => [name, response.headers[2 * i + 1]])) }
}

describe('GET /openapi.json', () => {
  test('GET /openapi.json needs no key and is not counted', async () => {
    const { status, headers, body } = await get({})
    expect([status, headers['Content-Type'], JSON.parse(body)]).toEqual([200, 'application/json', openApiDocument()])
    expect(headers).not.toHaveProperty('X-RateLimit-Limit')
  })

  test("the document contains the server's address and plans", async () => {
    const options = { serverUrl: 'https://a.test', basePath: '/x', plans: { free: { perMinute: 1, perDay: 2 } } }
    const { body } = await get(options)
    expect(JSON.parse(body)).toMatchObject({
      servers: [{ url: 'https://a.test/x' }],
      'x-rate-limits': { free: { perMinute: 1, perDay: 2 } },
    })
  })

  test.each([
    ['no other page', undefined, undefined],
    ['every page with cors', true, '*'],
    ['a page of a listed origin', { origins: ['https://shop.example'] }, 'https://shop.example'],
    ['no page of another origin', { origins: ['https://other.example'] }, undefined],
  ] as const)('the document can be read by %s', async (_, cors, allowed) => {
    const { headers } = await get({ cors }, { origin: 'https://shop.example' })
    expect(headers['Access-Control-Allow-Origin']).toBe(allowed)
  })
})

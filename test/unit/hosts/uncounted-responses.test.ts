import { beforeEach, describe, expect, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { toFetchHandler } from '../../../adapters/hosts/fetch.ts'
import { type Clock, createPetStore, type PetStore, type PetStoreOptions } from '../../../src/index.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'
import { startServer } from '../../support/node-server.ts'
import { rawRequest } from '../../support/raw-http.ts'

const anonymous = { perMinute: 70, perDay: 80 }
const url = 'http://localhost/v1/pets'

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}))

type Answer = { readonly status: number; readonly headers: Readonly<Record<string, string>> }

const plain = async (response: Promise<Response>): Promise<Answer> => {
  const { status, headers } = await response
  return { status, headers: Object.fromEntries(headers) }
}
const hosts: Record<string, (petStore: PetStore) => Promise<Answer>> = {
  toFetchHandler: (petStore) => plain(toFetchHandler(petStore)(new Request(url))),
  toBunHandler: (petStore) => plain(toBunHandler(petStore)(new Request(url), null)),
  toDenoHandler: (petStore) => plain(toDenoHandler(petStore)(new Request(url), { remoteAddr: {} })),
  serve: async (petStore) => {
    const { url } = await startServer({ wrap: () => petStore })
    return rawRequest(url, 'GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')
  },
}

function expectCommonHeaders({ status, headers }: Answer): void {
  expect(status).toBe(500)
  expect(headers).toMatchObject({
    'x-ratelimit-limit': '70',
    'x-ratelimit-remaining': '70',
    'x-ratelimit-reset': expect.stringMatching(/^[1-9]\d*$/),
    'x-content-type-options': 'nosniff',
  })
}

const broken = {
  throws: () => {
    throw new Error('no time')
  },
  'returns NaN': () => Number.NaN,
  'returns a time before 1970': () => -1,
}

describe.each(Object.entries(hosts))('%s', (_host, ask) => {
  test.each(Object.entries(broken))('sends the headers of every response if the clock %s', async (_, now) => {
    expectCommonHeaders(await ask(createPetStore({ anonymous, clock: { now } })))
  })

  test('sends the headers of every response if a wrapper of handle fails', async () => {
    const handle = () => Promise.reject(new Error('of the host'))
    expectCommonHeaders(await ask({ ...createPetStore({ anonymous }), handle }))
  })

  test('sends the headers of every response if a wrapper of a test store fails', async () => {
    const { petStore } = await createTestPetStore({ anonymous })
    const handle = () => Promise.reject(new Error('of the host'))
    expectCommonHeaders(await ask({ ...petStore, handle }))
  })

  test('sends the headers of every response if a wrapper returns an invalid header', async () => {
    const handle = async () => ({ status: 200, headers: ['x a', 'b\n'], body: '' })
    expectCommonHeaders(await ask({ ...createPetStore({ anonymous }), handle }))
  })

  test('sends nosniff if a wrapper is no copy of a store', async () => {
    const { fetch, basePath } = createPetStore()
    const { status, headers } = await ask({ fetch, basePath, handle: () => Promise.reject(new Error('of the host')) })
    expect([status, headers['x-content-type-options']]).toEqual([500, 'nosniff'])
  })
})

const request = { method: 'GET', target: '/v1/pets', body: async () => new Uint8Array() }

test.each<[string, PetStoreOptions]>([
  ['its clock', { clock: { now: () => 0, monotonic: broken.throws } satisfies Clock, onResponse: () => {} }],
  ['a header that it reads for CORS', { cors: { origins: [] } }],
])('sends the headers of every response if finishing it fails: %s', async (_what, options) => {
  const header = (name: string) => {
    if (name === 'origin') throw new Error('no header')
    return undefined
  }
  const { status, headers } = await createPetStore({ anonymous, ...options }).handle({ ...request, header })
  const pairs = headers.flatMap((name, i) => (i % 2 === 0 ? [[name.toLowerCase(), headers[i + 1] as string]] : []))
  expectCommonHeaders({ status, headers: Object.fromEntries(pairs) })
})

test('reports once that a list in trustProxy cannot contain an unknown address', async () => {
  const onError = vi.fn()
  const handler = toFetchHandler(createPetStore({ onError }), { trustProxy: ['10.0.0.0/8'] })
  const headers = { 'x-forwarded-for': '203.0.113.7' }
  for (let i = 0; i < 2; i++) await handler(new Request(url, { headers }))
  await handler(new Request(url, { headers }), '10.0.0.1')
  expect(onError.mock.calls).toEqual([[expect.objectContaining({ code: 'untrusted_forwarded_for' }), {}]])
})

import { expect, test, vi } from 'vitest'
import { type TrustProxy, toFetchHandler } from '../../../adapters/hosts/fetch.ts'
import { createPetStore } from '../../../src/index.ts'
import { storeWithKey } from '../../support/node-server.ts'

/** Returns the address by which the store counts a request with `X-Forwarded-For: 9.9.9.9, 203.0.113.7`. */
async function countedAddress(trustProxy: TrustProxy, peer?: string | null) {
  const seen: unknown[] = []
  const petStore = createPetStore({ onResponse: ({ clientAddress }) => void seen.push(clientAddress) })
  const headers = { 'x-forwarded-for': '9.9.9.9, 203.0.113.7' }
  await toFetchHandler(petStore, { trustProxy })(new Request('http://localhost/v1/pets', { headers }), peer)
  return seen[0]
}

test.each<[TrustProxy, string | null | undefined, string | undefined]>([
  [false, '10.0.0.1', '10.0.0.1'],
  [false, undefined, undefined],
  [false, '', undefined],
  [1, '10.0.0.1', '203.0.113.7'],
  [1, undefined, '203.0.113.7'],
  [1, null, '203.0.113.7'],
  [['10.0.0.0/8'], '10.0.0.1', '203.0.113.7'],
  [['10.0.0.0/8'], '192.0.2.1', '192.0.2.1'],
  [['10.0.0.0/8'], undefined, undefined],
])('with trustProxy %j and the peer %j, the client address is %j', async (trustProxy, peer, expected) => {
  expect(await countedAddress(trustProxy, peer)).toBe(expected)
})

test('links contain the basePath that Next.js passes in nextUrl', async () => {
  const { petStore, token } = await storeWithKey()
  const request = new Request('http://localhost/shop/v1/pets/1', { headers: { authorization: `Bearer ${token}` } })
  const ofNext = Object.assign(request, { nextUrl: { basePath: '/shop' } })
  for (const fetch of [petStore.fetch, toFetchHandler(petStore)]) {
    const response = await fetch(ofNext)
    expect([response.status, response.headers.get('link')]).toEqual([404, '</shop/v1/pets>; rel="successor-version"'])
  }
})

test('responds with 500 if the second argument is not an address', async () => {
  const onError = vi.fn()
  const handler = toFetchHandler(createPetStore({ onError })) as (...args: unknown[]) => Promise<Response>
  expect((await handler(new Request('http://localhost/v1/pets'), { params: {} })).status).toBe(500)
  const message =
    "option address: expected the client's IP address as the second argument of the handler, or nothing, got an object"
  expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ message }), expect.anything())
})

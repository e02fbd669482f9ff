import { created } from './fixtures.mjs'

/** Returns one request of each kind. Bare servers repeat the responses that petstore-kit has given to these requests. */
export const oneOfEach = (tokens) => ({
  list: { method: 'GET', target: '/v1/pets', token: tokens.main },
  get: { method: 'GET', target: '/v1/pets/7', token: tokens.main },
  create: { method: 'POST', target: '/v1/pets', token: tokens.main, body: JSON.stringify(created) },
  unauthorized: { method: 'GET', target: '/v1/pets', token: 'pet_bench_unknown' },
  limited: { method: 'GET', target: '/v1/pets', token: tokens.limited },
})

/** Converts a request of `oneOfEach` to an `ApiRequest`. */
export function toHandle({ method, target, token, body }) {
  const headers = { authorization: `Bearer ${token}` }
  const bytes = new TextEncoder().encode(body ?? '')
  if (body !== undefined) {
    headers['content-type'] = 'application/json'
    headers['content-length'] = String(bytes.length)
  }
  return { method, target, clientAddress: '127.0.0.1', header: (name) => headers[name], body: async () => bytes }
}

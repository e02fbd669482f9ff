import { created, STATUSES } from './fixtures.mjs'

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

/** Returns the URL of the next page in a `Link` header. */
export const nextPage = (link) => /<([^>]+)>; rel="next"/.exec(link ?? '')?.[1]

/**
 * Returns 300 URLs of pages with 1 to 100 animals: for each limit, the first page, the second page, and a page with a filter.
 *
 * @param nextOf - returns the URL of the page after a page
 */
export async function differentPages(nextOf) {
  const targets = []
  for (let limit = 1; limit <= 100; limit++) {
    const first = `/v1/pets?limit=${limit}`
    targets.push(first, await nextOf(first), `${first}&status=${STATUSES[limit % 3]}`)
  }
  return targets
}

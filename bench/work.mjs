import { created, STATUSES } from './contestants/fixtures.mjs'

/** How many animals a server has before a walk. */
export const WALKED = 100_000
const PAGE = 100

/** The kinds of work. Each function returns the requests of one server. `pets` is the number of animals at the start. */
export const works = {
  list: { requests: (server) => [get(server, '/v1/pets')] },
  varied: { requests: async (server) => (await differentPages(server)).map((path) => get(server, path)) },
  'walk 100': { pets: WALKED, requests: async (server) => (await walk(server)).map((path) => get(server, path)) },
  create: { requests: (server) => [post(server)] },
}

function get({ tokens }, path) {
  return { method: 'GET', path, headers: { authorization: `Bearer ${tokens.main}` } }
}

function post({ tokens }) {
  const headers = { authorization: `Bearer ${tokens.main}`, 'content-type': 'application/json' }
  return { method: 'POST', path: '/v1/pets', headers, body: JSON.stringify(created) }
}

/** Returns 300 pages of 1 to 100 animals: for each limit, the first page, the second page, and a page with a filter. */
async function differentPages(server) {
  const paths = []
  for (let limit = 1; limit <= 100; limit++) {
    const first = `/v1/pets?limit=${limit}`
    paths.push(first, await nextPage(server, first), `${first}&status=${STATUSES[limit % 3]}`)
  }
  return paths
}

/** Returns every page of 100 animals once, by the links: only the server knows its cursors. */
async function walk(server) {
  const paths = []
  for (let path = `/v1/pets?limit=${PAGE}`; path !== undefined; path = await nextPage(server, path)) paths.push(path)
  return paths
}

async function nextPage(server, path) {
  const { headers } = get(server, path)
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers })
  await response.arrayBuffer()
  return /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
}

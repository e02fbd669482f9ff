import { created, STATUSES } from '../contestants/fixtures.mjs'

/** How many different URLs the work `varied` has. */
const URLS = 300
/** One request of each line: 80 % lists, 15 % look-ups and 5 % creates. The order is fixed, so that all servers get the same. */
const MIX = 'LLLGLLLLLGLLLCLLLLGL'

/** The names of the kinds of work, in the order in which they are measured. */
export const WORKS = ['list', 'varied', 'create', 'mix', '401', '429']

/** The kinds of work. Each returns its requests: the text and the status of the right response. */
export const works = {
  list: ({ tokens }) => [get('/v1/pets', tokens.main)],
  varied: async (server) => (await differentPages(server)).map((path) => get(path, server.tokens.main)),
  create: ({ tokens, does }) => [{ ...create(tokens.main), ...(does === 'nothing' && { status: 200 }) }],
  mix: ({ tokens }) => [...MIX].map((letter, i) => mixed[letter](tokens.main, i)),
  401: () => [get('/v1/pets', 'pet_bench_unknown', 401)],
  429: ({ tokens }) => [get('/v1/pets', tokens.limited, 429)],
}

const mixed = {
  L: (token) => get('/v1/pets', token),
  G: (token, i) => get(`/v1/pets/${i + 1}`, token),
  C: (token) => create(token),
}

function get(path, token, status = 200) {
  return { status, text: `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n` }
}

function create(token) {
  const body = JSON.stringify(created)
  const length = `Content-Type: application/json\r\nContent-Length: ${body.length}`
  const head = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${length}\r\n\r\n`
  return { status: 201, text: head + body }
}

/**
 * Returns URLs of different pages, with and without a filter. It follows the links of a server, because each server has cursors of
 * its own. The pages have 19 to 21 animals, so that the bytes are about those of the work `list`.
 */
async function differentPages({ does, port, tokens }) {
  const paths = []
  for (const limit of [20, 19, 21]) {
    for (const status of [undefined, ...STATUSES]) {
      let path = `/v1/pets?limit=${limit}${status ? `&status=${status}` : ''}`
      while (path !== undefined && paths.length < URLS) {
        paths.push(path)
        path = does === 'bytes' ? nextOfBare(path, paths.length) : await nextPage(port, path, tokens.main)
      }
    }
  }
  if (paths.length < URLS) throw new Error(`expected ${URLS} pages, got ${paths.length}`)
  return paths
}

/** A bare server has no pages. It gets URLs of the same length and number. */
const nextOfBare = (path, count) => `${path.replace(/&cursor=.*/, '')}&cursor=${1000 + count}`

async function nextPage(port, path, token) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
  await response.arrayBuffer()
  return /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '')?.[1]
}

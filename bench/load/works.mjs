import { created } from '../contestants/fixtures.mjs'
import { differentPages, nextPage } from '../contestants/requests.mjs'

/** A letter for each request: 80 % lists (L), 15 % look-ups by id (G), 5 % creates (C). The order is the same for all servers. */
const MIX = 'LLLGLLLLLGLLLCLLLLGL'
/** A walk reads each page of the list once. It starts at `STARTS` places at the same time, `SECTION` animals apart. */
const STARTS = 32
const SECTION = 3_200
/** How many animals a server has before a walk. */
export const WALKED = 100_000

/** The kinds of work. Each function returns requests as texts, each with the status that its response must have. */
export const works = {
  list: ({ tokens }) => [get('/v1/pets', tokens.main)],
  varied: async (server) => (await differentPages(nextOf(server))).map((path) => get(path, server.tokens.main)),
  'walk 20': (server) => walk(server, 20),
  'walk 100': (server) => walk(server, 100),
  changing: ({ tokens }) => [...Array(10).fill(get('/v1/pets', tokens.main)), create(tokens.main)],
  create: ({ tokens }) => [create(tokens.main)],
  mix: ({ tokens }) => [...MIX].map((letter, i) => mixed[letter](tokens.main, i)),
}

/** Returns the options of `sendLoad` for one round of a kind of work. */
export function roundOf({ work, connections }, { burst }) {
  const [kind, limit] = work.split(' ')
  return kind === 'walk'
    ? { mode: 'walk', amount: SECTION / limit, connections }
    : { mode: 'closed', amount: burst, connections }
}

const mixed = {
  L: (token) => get('/v1/pets', token),
  G: (token, i) => get(`/v1/pets/${i + 1}`, token),
  C: (token) => create(token),
}

function get(path, token) {
  return { status: 200, text: `GET ${path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n\r\n` }
}

function create(token) {
  const body = JSON.stringify(created)
  const length = `Content-Type: application/json\r\nContent-Length: ${body.length}`
  const head = `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${token}\r\n${length}\r\n\r\n`
  return { status: 201, text: head + body }
}

/**
 * Returns the first request for each place where a walk starts. To find the places, it requests pages of 80 animals: if it
 * requested the pages of the walk, a server could cache them before they are measured.
 */
async function walk(server, limit) {
  const paths = ['/v1/pets?limit=80']
  for (let path = paths[0], animals = 80; paths.length < STARTS; animals += 80) {
    path = await nextOf(server)(path)
    if (animals % SECTION === 0) paths.push(path)
  }
  return paths.map((path) => get(path.replace('limit=80', `limit=${limit}`), server.tokens.main))
}

/** Returns a function that requests a page and returns the path of the next page. Each server has cursors of its own. */
const nextOf =
  ({ port, tokens }) =>
  async (path) => {
    const headers = { authorization: `Bearer ${tokens.main}` }
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers })
    await response.arrayBuffer()
    return nextPage(response.headers.get('link'))
  }

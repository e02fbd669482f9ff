/** What a host makes impossible, whatever stands behind it. */
export interface Limit {
  readonly hosts: readonly string[]
  readonly rows: readonly string[]
  /** By what the failure of such a row is known. */
  readonly shows: RegExp
  readonly reason: string
  /** It depends on who is faster whether the row passes or the connection breaks. */
  readonly isChance?: boolean
}

/** Hosts that hand a plain Request to the store. */
const FETCH_HOSTS = ['workerd', 'Hono', 'h3', 'itty-router', 'Koa, with a Response']

/** Hosts on Node's own server. */
const NODE_HOSTS = ['Node 20', 'Node 22', 'Node 24', 'Node, the newest', 'Express 4', 'Express 5', 'Fastify', 'Koa']

/** Every row that a host does not pass, and why. The suite expects each of them to fail, but for those left to chance. */
export const limitTable: readonly Limit[] = [
  {
    hosts: FETCH_HOSTS,
    rows: [
      'strangers are counted by address, and take nothing from a customer there',
      'a spoofed X-Forwarded-For moves nobody into another bucket',
      'behind one proxy, its word counts and no further one',
      'behind named proxies, the first address that is none of them counts',
      'a stranger who has left meanwhile is counted as well',
      'the address of the connection has one spelling',
    ],
    shows: /401 !== 429|\+ null\n|nobody noticed/,
    reason: 'a Request tells no address; a host that knows it gives it to toApiRequest',
  },
  {
    hosts: [...FETCH_HOSTS, 'fetch in process'],
    rows: ['a store whose wrapping rejects does not take the host down'],
    shows: /200 !== 500/,
    reason: 'the host itself calls fetch, which never rejects: no door stands between that could catch',
  },
  {
    hosts: ['Bun', 'Hono', 'h3', 'itty-router', 'Koa, with a Response'],
    rows: ['dot segments are left as they are'],
    shows: /200 !== 404/,
    reason: 'a Request resolves them, as the URL standard says',
  },
  {
    hosts: ['Bun', 'h3'],
    rows: ['a backslash is no slash'],
    shows: /'200'/,
    reason: 'a Request makes it one, as the URL standard says',
  },
  {
    hosts: ['workerd', 'Koa, with a Response'],
    rows: ['what stands in Host is no part of the path'],
    shows: /'200'/,
    reason: 'it makes the URL of a Request by putting the target behind the Host header as that came',
  },
  {
    hosts: ['h3', 'Koa, with a Response'],
    rows: ['an answer states its length'],
    shows: /\+ undefined\n|undefined !== '/,
    reason: 'it sends the body of a Response as a stream, in chunks',
  },
  {
    hosts: ['fetch in process', 'Koa, with a Response'],
    rows: ['TRACE is 405'],
    shows: /unsupported|500 !== 405/,
    reason: 'the Fetch standard forbids a Request with this method',
  },
  {
    hosts: ['Express 4'],
    rows: ['two slashes between the prefix and the base path are another path'],
    shows: /200 !== 404/,
    reason: 'it takes the second slash off together with the prefix',
  },
  {
    hosts: ['Fastify'],
    rows: ['a method that few know is 405'],
    shows: /404 !== 405/,
    reason:
      'it routes only methods that it was told of, and answers 404 to others; telling it would change the whole host',
  },
  {
    hosts: ['Fastify', 'h3'],
    rows: ['escapes that mean nothing are 404'],
    shows: /400 !== 404/,
    reason: 'its router answers them with 400 before any route is asked',
  },
  {
    hosts: [...NODE_HOSTS, 'Hono', 'h3', 'itty-router', 'Koa, with a Response'],
    rows: ['an expectation that nobody knows is overlooked'],
    shows: /417 !== 200/,
    reason: 'Node answers it with 417, where the program does not listen to checkExpectation as our own `serve` does',
  },
  {
    hosts: ['workerd'],
    rows: ['an Authorization header without a value is a wrong one'],
    shows: /missing_api_key/,
    reason: 'it drops a header without a value',
  },
  {
    hosts: ['workerd'],
    rows: ['a client that leaves is noticed'],
    shows: /nobody noticed/,
    reason: 'the work for a client that has left is ended from outside, and its code does not go on',
  },
  {
    hosts: ['workerd', 'Bun', 'Hono', 'h3', 'itty-router', 'Koa, with a Response'],
    rows: ['a client that uploads far too much gets its answer'],
    shows: /ECONNRESET|EPIPE|socket hang up/,
    reason: 'it closes the connection once it has answered, and a client that still writes may lose the answer',
    isChance: true,
  },
  {
    hosts: ['workerd'],
    rows: [
      'a connection lives on after a refused upload that comes in many pieces',
      'a connection lives on after an upload to where nothing is',
    ],
    shows: /the connection ended|ECONNRESET|EPIPE/,
    reason: 'it closes the connection behind an answer that came before the body did, and says so in it',
  },
  {
    hosts: ['Koa, with a Response'],
    rows: [
      'a connection lives on after a refused upload that comes in many pieces',
      'a connection lives on after an upload to where nothing is',
    ],
    shows: /the connection ended/,
    reason: 'it makes the body a stream, which begins to read and keeps the rest of what nobody wants from Node',
  },
  {
    hosts: ['Deno', 'workerd'],
    rows: ['a connection lives on after a body that means nothing'],
    shows: /the connection ended|ECONNRESET|EPIPE/,
    reason: 'its Request to a GET has no body that could be let pass, and it closes the connection behind one unread',
  },
  {
    hosts: ['Bun'],
    rows: ['what stands behind the last chunk of a body is no request'],
    shows: /400 !== 200/,
    reason: 'it answers, and then takes trailers for another request, which it refuses',
  },
  {
    hosts: ['Bun'],
    rows: ['a length that nobody could send is refused as too large'],
    shows: /payload_too_large/,
    reason: 'it answers 413 itself, without a body, to what is longer than its maxRequestBodySize',
  },
  {
    hosts: ['Bun'],
    rows: ['a request sent ahead of an answer that takes time is answered after it'],
    shows: /the connection ended/,
    reason: 'it closes a connection on which a request comes while the answer to an earlier one is waited for',
  },
  {
    hosts: ['Hono', 'h3', 'itty-router', 'Koa, with a Response'],
    rows: ['a request sent behind one that adds an animal finds it there'],
    shows: /404 !== 200/,
    reason: 'Node hands over at once what was sent at once, and a Request does not tell on which connection it came',
  },
  {
    hosts: ['Koa, with a Response'],
    rows: ['a client that leaves is noticed'],
    shows: /nobody noticed/,
    reason: 'it makes no Request itself, and so no signal that goes with one',
  },
]

/** What keeps a host from passing a row, or `undefined` where it must. */
export function limitOf(host: string, row: string): Limit | undefined {
  return limitTable.find(({ hosts, rows }) => hosts.includes(host) && rows.includes(row))
}

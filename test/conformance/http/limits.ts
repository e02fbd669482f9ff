/** Rules (tests of the conformance suite) that some hosts cannot pass because of the host itself, and the reason. */
export interface Limit {
  readonly hosts: readonly string[]
  readonly rules: readonly string[]
  /** Matches the error message of the failed rule. */
  readonly shows: RegExp
  readonly reason: string
  /** Whether the rule sometimes passes, depending on timing. */
  readonly isChance?: boolean
  /** Whether the host sends nothing until it closes the connection. The rule waits for it only briefly. */
  readonly isSilent?: boolean
}

/** Hosts that pass a plain Request to the store. */
const FETCH_HOSTS = ['workerd', 'workerd with D1', 'itty-router']

/** Hosts on the HTTP server of Node. */
const NODE_HOSTS = [
  'Node',
  'Node 20',
  'Node 22',
  'Node 24',
  'Node, the newest',
  'Express 4',
  'Express 5',
  'Fastify',
  'Koa',
]

/** The suite expects that these rules fail on these hosts. A rule with `isChance` may also pass. */
export const limitTable: readonly Limit[] = [
  {
    hosts: FETCH_HOSTS,
    rules: [
      'counts anonymous clients per address, and separately from keys',
      'ignores X-Forwarded-For without trustProxy',
      'with trustProxy 1, uses the last address of X-Forwarded-For',
      'with trustProxy 1, uses the last address of Forwarded',
      'with listed proxies, uses the last untrusted address',
      'counts an anonymous client that disconnects',
      'normalizes the address of the connection',
    ],
    shows: /401 !== 429|\+ null\n|no abort/,
    reason: 'a Request has no client address; a host that knows it passes it to toApiRequest',
  },
  {
    hosts: [...FETCH_HOSTS, 'fetch in process'],
    rules: ['responds with 500 if petStore.handle rejects, and keeps running'],
    shows: /200 !== 500/,
    reason: 'the host calls fetch of the store directly, so no adapter catches errors of a replaced handle',
  },
  {
    hosts: ['Bun', 'Elysia', 'Hono', 'h3', 'itty-router', 'React Router'],
    rules: ['does not resolve dot segments'],
    shows: /200 !== 404/,
    reason: 'a Request resolves dot segments (URL standard)',
  },
  {
    hosts: ['Bun', 'Elysia', 'h3', 'React Router'],
    rules: ['does not treat a backslash as a slash'],
    shows: /'200'/,
    reason: 'a Request replaces a backslash with a slash (URL standard)',
  },
  {
    hosts: ['workerd', 'workerd with D1', 'React Router'],
    rules: ['ignores a path in the Host header'],
    shows: /'200'/,
    reason: 'the host builds the URL of a Request from the unchecked Host header and the target',
  },
  {
    hosts: ['h3', 'React Router'],
    rules: ['states the Content-Length of a response'],
    shows: /\+ undefined\n|undefined !== '/,
    reason: 'the host sends the body of a Response as a stream, in chunks',
  },
  {
    hosts: ['fetch in process', 'React Router'],
    rules: ['responds with 405 to TRACE'],
    shows: /unsupported|500 !== 405/,
    reason: 'the Fetch standard forbids a Request with this method',
  },
  {
    hosts: ['Express 4', 'Express 5', 'Fastify'],
    rules: ['with trustProxy 1, uses the last address of Forwarded'],
    shows: /401 !== 429|429 !== 401/,
    reason: 'the host finds the client itself, and does not read Forwarded',
  },
  {
    hosts: ['React Router'],
    rules: ['rejects a second Authorization header'],
    shows: /200 !== 401/,
    reason: "the host builds the Request from Node's headers, from which Node drops the second one",
  },
  {
    hosts: ['React Router'],
    rules: ['serves a target in absolute form'],
    shows: /successor-version/,
    reason: 'the host appends the whole target to the origin, so the path contains two origins',
  },
  {
    hosts: ['Express 4'],
    rules: ['responds with 404 to two slashes before the base path'],
    shows: /200 !== 404/,
    reason: 'the router removes the second slash together with the prefix',
  },
  {
    hosts: ['Fastify'],
    rules: ['responds with 405 to PROPFIND'],
    shows: /404 !== 405/,
    reason: 'the host responds with 404 to methods that it does not know; adding one would change the whole host',
  },
  {
    hosts: ['Fastify', 'h3'],
    rules: ['responds with 404 to an invalid percent escape'],
    shows: /400 !== 404/,
    reason: 'the router responds with 400 before it looks for a route',
  },
  {
    hosts: [...NODE_HOSTS, 'Hono', 'h3', 'itty-router', 'React Router'],
    rules: ['describes an unknown expectation in the body'],
    shows: /expectation_failed/,
    reason:
      'Node itself responds with 417 and no body, unless the program listens to checkExpectation, as `serve` does',
  },
  {
    hosts: ['workerd', 'workerd with D1'],
    rules: ['rejects an empty Authorization header as invalid_api_key'],
    shows: /missing_api_key/,
    reason: 'the runtime drops a header without a value',
  },
  {
    hosts: ['workerd', 'workerd with D1'],
    rules: ['aborts the signal when the client disconnects'],
    shows: /no abort/,
    reason: 'the runtime stops the code of a request whose client has disconnected',
  },
  {
    hosts: ['workerd', 'workerd with D1', 'Bun', 'Elysia', 'Hono', 'h3', 'itty-router'],
    rules: ['responds with 413 to an upload of 3 MB'],
    shows: /ECONNRESET|EPIPE|socket hang up/,
    reason: 'the host closes the connection after the response, which a client that still writes may lose',
    isChance: true,
  },
  {
    hosts: ['workerd', 'workerd with D1'],
    rules: [
      'keeps the connection after a rejected upload of 400 KB',
      'keeps the connection after a rejected chunked upload of 6 MB',
      'keeps the connection after an upload to an unknown path',
    ],
    shows: /the connection ended|ECONNRESET|EPIPE/,
    reason: 'the runtime closes the connection after a response that precedes the end of the body',
  },
  {
    hosts: ['Hono', 'itty-router'],
    rules: [
      'keeps the connection after a rejected upload of 400 KB',
      'keeps the connection after a rejected chunked upload of 6 MB',
    ],
    shows: /the connection ended|ECONNRESET|EPIPE/,
    reason:
      '@hono/node-server gives the rest of a rejected upload half a second to arrive, too little on a busy machine',
    isChance: true,
  },
  {
    hosts: ['Deno', 'workerd', 'workerd with D1'],
    rules: ['keeps the connection after a GET with a body'],
    shows: /the connection ended|ECONNRESET|EPIPE/,
    reason: 'a Request with GET has no body to read, and the runtime closes the connection after an unread body',
  },
  {
    hosts: ['Bun', 'Elysia'],
    rules: ['ignores trailers of a chunked body'],
    shows: /400 !== 200/,
    reason: 'the runtime takes trailers for another request, which it rejects',
  },
  {
    hosts: ['Bun', 'Elysia'],
    rules: ['rejects a huge Content-Length with 413'],
    shows: /payload_too_large/,
    reason: 'the runtime itself responds with 413 and no body above its maxRequestBodySize',
  },
  {
    hosts: ['Bun', 'Elysia'],
    rules: ['responds to a request that is pipelined after a slow request'],
    shows: /the connection ended/,
    reason: 'the runtime closes a connection if a request arrives while an earlier response is pending',
  },
]

/** Returns why a host cannot pass a rule, or `undefined` if the rule must pass. */
export function limitOf(host: string, rule: string): Limit | undefined {
  return limitTable.find(({ hosts, rules }) => hosts.includes(host) && rules.includes(rule))
}

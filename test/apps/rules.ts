import assert from 'node:assert/strict'
import { allowOf } from '../../src/http/routes.ts'
import { contractClient } from '../../src/testing/suites/http/client.ts'
import { httpRules } from '../../src/testing/suites/http/suite.ts'
import { fetchThrough, type Received, type Sent, socketClient, Wire } from '../conformance/http/client.ts'
import { accepts, type RunningApp } from './app.ts'

/** The token of the key with the plan `business` that every example app knows. */
export const TOKEN = 'a-key-of-the-examples'

/** A started app, and functions that send requests to it. */
export interface Target {
  readonly app: RunningApp
  /** Sends a request without a key, from an address that no other rule uses. */
  anonymous(path: string, sent?: Sent): Promise<Received>
  /** Sends a request with the key `TOKEN`. */
  withToken(path: string, sent?: Sent): Promise<Received>
}

/** One expectation of a started app. The last rule stops the app. */
export interface AppRule {
  readonly title: string
  check(target: Target): Promise<void>
}

let clients = 0

export function targetOf(app: RunningApp): Target {
  const send = socketClient(app.port)
  return {
    app,
    anonymous: (path, sent = {}) =>
      send(path, { ...sent, headers: { 'x-forwarded-for': addressOf(++clients), ...sent.headers } }),
    withToken: (path, sent = {}) =>
      send(path, {
        ...sent,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': JSON_TYPE, ...sent.headers },
      }),
  }
}

const JSON_TYPE = 'application/json'
const REX = '{"name":"Rex","categoryId":1}'
const SHOP = 'https://shop.example'

const addressOf = (client: number) => `2001:db8:${client.toString(16)}::1`

function expectError({ status, headers, body }: Received, expected: number, code: string): void {
  assert.equal(status, expected, body)
  assert.equal(JSON.parse(body).code, code)
  assert.match(headers['x-ratelimit-limit'] ?? 'none', /^\d+$/)
}

const ownRules: readonly AppRule[] = [
  {
    title: "a page of the app shows the API's animals",
    async check({ anonymous, withToken }) {
      assert.equal(
        (await withToken('/v1/pets', { method: 'POST', body: '{"name":"Bella","categoryId":1}' })).status,
        201,
      )
      const { status, body } = await anonymous('/')
      assert.equal(status, 200)
      assert.match(body, /The shop itself has Bella/)
    },
  },
  {
    title: 'the app responds with its own 404 outside the store',
    async check({ withToken }) {
      const { status, headers } = await withToken('/elsewhere')
      assert.deepEqual([status, headers['x-ratelimit-limit']], [404, undefined])
    },
  },
  {
    title: 'responds to a CORS preflight',
    async check({ anonymous }) {
      const headers = { origin: SHOP, 'access-control-request-method': 'POST' }
      const preflight = await anonymous('/v1/pets', { method: 'OPTIONS', headers })
      assert.deepEqual([preflight.status, preflight.headers['access-control-allow-origin']], [204, SHOP])
      assert.equal(preflight.headers['access-control-allow-methods'], allowOf('/pets'))
    },
  },
  {
    title: 'repeats no header, and sends CORS headers',
    async check({ withToken }) {
      const { doubled, headers } = await withToken('/v1/pets', { headers: { origin: SHOP } })
      assert.deepEqual([doubled, headers['access-control-allow-origin']], [[], SHOP])
    },
  },
  {
    title: 'responds with 413 to a long body with Content-Length',
    async check({ withToken }) {
      const body = REX.padEnd(100_000)
      expectError(await withToken('/v1/pets', { method: 'POST', body }), 413, 'payload_too_large')
    },
  },
  {
    title: 'responds with 413 to a long body in chunks',
    async check({ withToken }) {
      const body = REX.padEnd(100_000)
      expectError(await withToken('/v1/pets', { method: 'POST', body, chunked: true }), 413, 'payload_too_large')
    },
  },
  {
    title: 'reads a body in chunks',
    async check({ withToken }) {
      assert.equal((await withToken('/v1/pets', { method: 'POST', body: REX, chunked: true })).status, 201)
    },
  },
  {
    title: 'responds with 415 to a form, also from another site',
    async check({ withToken }) {
      for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/plain'])
        for (const origin of [undefined, 'https://other.example']) {
          const headers = { 'content-type': type, ...(origin && { origin }) }
          const refused = await withToken('/v1/pets', { method: 'POST', body: 'name=Rex', headers })
          expectError(refused, 415, 'unsupported_media_type')
        }
    },
  },
  {
    title: 'responds to GET with a body',
    async check({ withToken }) {
      assert.equal(
        (await withToken('/v1/pets?limit=1', { body: 'ignored', headers: { 'content-length': '7' } })).status,
        200,
      )
    },
  },
  {
    title: 'behind one proxy, counts the last address of X-Forwarded-For',
    async check({ anonymous }) {
      const [one, other] = [addressOf(++clients), addressOf(++clients)]
      const left = async (forwardedFor: string) => {
        const { headers } = await anonymous('/v1/pets', { headers: { 'x-forwarded-for': forwardedFor } })
        return Number(headers['x-ratelimit-remaining'])
      }
      const counts = [await left(`9.9.9.9, ${one}`), await left(`8.8.8.8, ${one}`), await left(`9.9.9.9, ${other}`)]
      assert.deepEqual(counts, [59, 58, 59])
    },
  },
  {
    title: 'responds with 429 over the limit of an address',
    async check({ anonymous }) {
      const headers = { 'x-forwarded-for': addressOf(++clients) }
      for (let i = 0; i < 60; i++) expectError(await anonymous('/v1/pets', { headers }), 401, 'missing_api_key')
      const refused = await anonymous('/v1/pets', { headers })
      expectError(refused, 429, 'rate_limit_exceeded')
      assert.match(refused.headers['retry-after'] ?? 'none', /^\d+$/)
    },
  },
  {
    title: 'serves further requests after bytes that are no request',
    async check({ app, withToken }) {
      const client = new Wire(app.port)
      client.write('GET /v1/pets HTTP/1.1\r\nHost: localhost\r\n\r\nignored')
      await client.take(/^HTTP\/1\.1 40[01]/)
      client.close()
      assert.equal((await withToken('/v1/pets')).status, 200)
    },
  },
  {
    title: 'serves further requests after a client has left during its upload',
    async check({ app, withToken }) {
      const leaving = new Wire(app.port)
      leaving.write(head(1_000) + REX)
      await withToken('/v1/pets')
      leaving.close()
      assert.equal((await withToken('/v1/pets', { method: 'POST', body: REX })).status, 201)
    },
  },
]

function head(length: number, more = ''): string {
  const key = `Authorization: Bearer ${TOKEN}\r\nContent-Type: ${JSON_TYPE}`
  return `POST /v1/pets HTTP/1.1\r\nHost: localhost\r\n${key}\r\nContent-Length: ${length}\r\n${more}\r\n`
}

const SIGTERM_RULE: AppRule = {
  title: 'finishes a request in flight at SIGTERM',
  async check({ app }) {
    const client = new Wire(app.port)
    client.write(head(REX.length, 'Expect: 100-continue\r\n'))
    await client.take(/^HTTP\/1\.1 100 [\s\S]*?\r\n\r\n/)
    const stopped = app.stop()
    const deadline = AbortSignal.timeout(2_000)
    while (!deadline.aborted && (await accepts(app.port)));
    client.write(REX)
    const [, status] = await client.take(/^HTTP\/1\.1 (\d+)/)
    client.close()
    await stopped
    assert.equal(status, '201')
  },
}

/** The tests of `httpContract`, with requests over `node:http`. */
const contractRules: readonly AppRule[] = httpRules
  .filter(({ needsLimitedKey }) => !needsLimitedKey)
  .map(({ title, check }) => ({
    title,
    check: ({ anonymous }) =>
      check(contractClient({ baseUrl: 'http://localhost/v1', token: TOKEN, fetch: fetchThrough(anonymous) })),
  }))

export const rules: readonly AppRule[] = [...ownRules, ...contractRules, SIGTERM_RULE]

import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { createAdaptorServer } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import express, { type ErrorRequestHandler, type Response as ExpressResponse } from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type ApiKeyLocals, expressGuard } from '../../../adapters/hosts/express.ts'
import { apiKeyOf, fastifyGuard } from '../../../adapters/hosts/fastify.ts'
import { type ApiKeyVariables, honoGuard } from '../../../adapters/hosts/hono.ts'
import { type ApiKeyState, koaGuard } from '../../../adapters/hosts/koa.ts'
import { nodeGuard } from '../../../adapters/hosts/node/index.ts'
import { type AdmitOptions, createPetStore, memory, type PetStore, type PetStoreOptions } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { expectSilence, startHost } from '../../support/node-server.ts'
import { rawConnection } from '../../support/raw-http.ts'

beforeEach(expectSilence)

const express4: typeof express = createRequire(import.meta.url)('express4')
const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve))
const PROXY = '127.0.0.1'

interface Options extends AdmitOptions {
  /** Whether the host trusts proxies on this machine. */
  readonly behindProxy?: boolean
}

/**
 * Starts each host with a guard for three routes: `/orders` responds with the account and the body,
 * `/late` in a later turn, and `/broken` throws. Returns the URL.
 */
const hosts: Readonly<Record<string, (petStore: PetStore, options: Options) => Promise<string>>> = {
  Node(petStore, { behindProxy, ...options }) {
    const guard = nodeGuard(petStore, { ...options, trustProxy: behindProxy ? [PROXY] : false })
    return startHost(async (request, response) => {
      const key = await guard(request, response)
      if (!key) return
      if (request.url === '/late') await nextTurn()
      if (request.url === '/broken') return void response.writeHead(500, { 'content-type': 'text/plain' }).end('broken')
      let body = ''
      for await (const chunk of request.setEncoding('utf8')) body += chunk
      response.end(`${key.account}: ${body}`)
    })
  },
  'Express 5': (petStore, options) => startExpress(express, petStore, options),
  'Express 4': (petStore, options) => startExpress(express4, petStore, options),
  async Fastify(petStore, { behindProxy, ...options }) {
    const server = Fastify(behindProxy ? { trustProxy: [PROXY] } : {})
    server.addContentTypeParser('text/plain', { parseAs: 'string' }, (_request, body, done) => done(null, body))
    server.addHook('onRequest', fastifyGuard(petStore, options))
    server.route({
      method: ['GET', 'POST'],
      url: '/orders',
      handler: (request) => `${apiKeyOf(request).account}: ${request.body ?? ''}`,
    })
    server.get('/late', async (request) => {
      await nextTurn()
      return `${apiKeyOf(request).account}: `
    })
    server.get('/broken', () => {
      throw new Error('broken')
    })
    onTestFinished(() => server.close())
    return server.listen({ port: 0, host: '127.0.0.1' })
  },
  Hono(petStore, { behindProxy, ...options }) {
    const app = new Hono<{ Variables: ApiKeyVariables }>()
    app.use(honoGuard(petStore, { ...options, getConnInfo, trustProxy: behindProxy ? [PROXY] : false }))
    // A Response of the route itself, which gets none of the headers that were set before.
    app.all('/orders', async (c) => new Response(`${c.get('apiKey').account}: ${await c.req.text()}`))
    app.get('/late', async (c) => {
      await nextTurn()
      return c.text(`${c.get('apiKey').account}: `)
    })
    app.get('/broken', () => {
      throw new Error('broken')
    })
    app.onError((_error, c) => c.text('broken', 500))
    return startHost(createAdaptorServer({ fetch: app.fetch, overrideGlobalObjects: false }) as Server)
  },
  Koa(petStore, { behindProxy, ...options }) {
    const app = new Koa<ApiKeyState>()
    app.silent = true
    app.use(koaGuard(petStore, { ...options, trustProxy: behindProxy ? [PROXY] : false }))
    app.use(async (context) => {
      if (context.path === '/late') await nextTurn()
      if (context.path === '/broken') throw new Error('broken')
      let body = ''
      for await (const chunk of context.req.setEncoding('utf8')) body += chunk
      context.body = `${context.state.apiKey.account}: ${body}`
    })
    return startHost(createServer(app.callback()))
  },
}

function startExpress(framework: typeof express, petStore: PetStore, { behindProxy, ...options }: Options) {
  const app = framework()
  if (behindProxy) app.set('trust proxy', [PROXY])
  app.use(expressGuard(petStore, options))
  app.use(framework.text())
  app.all('/orders', (request, response: ExpressResponse<string, ApiKeyLocals>) => {
    response
      .type('text')
      .send(`${response.locals.apiKey.account}: ${typeof request.body === 'string' ? request.body : ''}`)
  })
  app.get('/late', async (_request, response: ExpressResponse<string, ApiKeyLocals>) => {
    await nextTurn()
    response.send(`${response.locals.apiKey.account}: `)
  })
  app.get('/broken', () => {
    throw new Error('broken')
  })
  const silent: ErrorRequestHandler = (_error, _request, response, _next) => void response.status(500).send('broken')
  app.use(silent)
  return startHost(createServer(app))
}

/** Starts a host with a store that has one key of two requests per minute. */
async function start(name: string, options: Options & { readonly store?: PetStoreOptions } = {}) {
  const { store, ...guardOptions } = options
  const clock = manualClock(Date.UTC(2030, 0, 1, 0, 0, 30))
  const backEnd = memory({ clock })
  const limits = { perMinute: 2, perDay: 100 }
  const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', account: 'acme', limits })
  const onError: unknown[] = []
  const petStore = createPetStore({
    ...backEnd,
    clock,
    anonymous: limits,
    onError: (error) => onError.push(error),
    ...store,
  })
  const url = await (hosts[name] as (typeof hosts)[string])(petStore, guardOptions)
  const send = (path: string, init: RequestInit = {}, sent: string | null = token) =>
    fetch(url + path, sent === null ? init : { ...init, headers: { ...init.headers, authorization: `Bearer ${sent}` } })
  return { url, petStore, token, send, onError }
}

/** Returns a response without the headers of the server. */
async function plain(response: Response) {
  const headers = Object.fromEntries(response.headers)
  for (const name of ['date', 'connection', 'keep-alive', 'content-length', 'x-powered-by']) delete headers[name]
  return { status: response.status, headers, text: await response.text() }
}

describe.each(Object.keys(hosts))('the guard of %s', (name) => {
  test.each(['/orders', '/late', '/broken', '/nothing'])(
    'gives the key to %s, and sets the rate-limit headers',
    async (path) => {
      const { send } = await start(name)
      const response = await send(path)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'x-ratelimit-limit': '2',
        'x-ratelimit-remaining': '1',
        'x-ratelimit-reset': String(Date.UTC(2030, 0, 1, 0, 1) / 1_000),
      })
      expect(response.status).toBe(
        { '/broken': 500, '/nothing': name === 'Node' || name === 'Koa' ? 200 : 404 }[path] ?? 200,
      )
      if (response.ok) expect(await response.text()).toBe('acme: ')
    },
  )

  test('leaves the body to the route', async () => {
    const { send } = await start(name)
    const response = await send('/orders', {
      method: 'POST',
      headers: { 'content-type': 'text/plain' },
      body: 'two cats',
    })
    expect(await response.text()).toBe('acme: two cats')
  })

  test.each([
    ['without a key', null, 'GET'],
    ['with an unknown key', 'x', 'POST'],
  ])('responds like the API to a request %s', async (_, token, method) => {
    const { send, petStore, onError } = await start(name)
    const headers: Record<string, string> = token === null ? {} : { authorization: `Bearer ${token}` }
    const ofApi = await plain(await petStore.fetch('http://localhost/v1/pets', { method, headers }))
    // `petStore.fetch` knows no address, so it has not counted the request.
    const counted = { ...ofApi, headers: { ...ofApi.headers, 'x-ratelimit-remaining': '1' } }
    expect(await plain(await send('/orders', { method }, token))).toEqual(counted)
    expect(onError).toEqual([])
  })

  test('responds with 429 and Retry-After over the limit', async () => {
    const { send } = await start(name)
    await send('/orders')
    await send('/orders')
    expect(await plain(await send('/orders'))).toMatchObject({
      status: 429,
      headers: { 'retry-after': '30', 'x-ratelimit-remaining': '0', 'content-type': 'application/json' },
    })
  })

  test('responds to HEAD without a body, but with its length', async () => {
    const { send, petStore } = await start(name)
    const response = await send('/orders', { method: 'HEAD' }, null)
    const ofApi = await petStore.fetch('http://localhost/v1/pets', { method: 'HEAD' })
    expect([response.status, await response.text()]).toEqual([401, ''])
    expect(response.headers.get('content-length')).toBe(ofApi.headers.get('content-length'))
  })

  test('responds with 503 while the quota store fails, and reports the error', async () => {
    const spend = () => Promise.reject(new Error('ECONNREFUSED: connect', { cause: { code: 'ECONNREFUSED' } }))
    const { send, onError } = await start(name, { store: { quota: { spend } } })
    expect((await send('/orders')).status).toBe(503)
    expect(onError).toHaveLength(1)
  })

  test('takes the options count and access', async () => {
    const keyStore = { find: () => ({ id: 'key_a', account: 'acme', plan: 'free', access: 'read' as const }) }
    const { send } = await start(name, { store: { keyStore }, count: false, access: 'write' })
    expect(await plain(await send('/orders'))).toMatchObject({
      status: 403,
      headers: { 'x-ratelimit-remaining': '60' },
      text: expect.stringContaining('read_only_key'),
    })
  })

  test('counts requests without a key by the address behind the proxy', async () => {
    const { send } = await start(name, { behindProxy: true })
    const from = (address: string) => send('/orders', { headers: { 'x-forwarded-for': address } }, null)
    const statuses: number[] = []
    for (const address of ['192.0.2.1', '192.0.2.1', '192.0.2.1', '192.0.2.2'])
      statuses.push((await from(address)).status)
    expect(statuses).toEqual([401, 401, 429, 401])
  })

  test('keeps the connection after it has refused an upload', async () => {
    const { url, token } = await start(name)
    const connection = await rawConnection(url)
    const upload = Buffer.alloc(1_000_000, 'a')
    await connection.send(
      `POST /orders HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: ${upload.length}\r\n\r\n`,
    )
    expect((await connection.answer()).status).toBe(401)
    await connection.send(upload)
    await connection.send(`GET /late HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`)
    expect((await connection.answer()).status).toBe(200)
    connection.leave()
  })
})

const guards = { nodeGuard, expressGuard, fastifyGuard, honoGuard, koaGuard }

describe.each(Object.entries(guards))('%s', (_, createGuard) => {
  const create = createGuard as (petStore: PetStore, options?: object) => unknown

  test('needs a store of createPetStore or a copy of one', () => {
    const { fetch, handle, basePath } = createPetStore()
    expect(() => create({ ...createPetStore(), handle })).not.toThrow()
    expect(() => create({ fetch, handle, basePath })).toThrow('option petStore: expected a store of createPetStore, or')
    expect(() => create(undefined as never)).toThrow('option petStore: expected a store of createPetStore')
  })

  test.each([
    [{ counted: false }, 'count'],
    [{ access: 'readonly' }, 'option access: expected read or write'],
    [{ count: 'no' }, 'option count: expected true or false'],
  ])('rejects the options %j', (options, message) => {
    expect(() => create(createPetStore(), options)).toThrow(message)
  })
})

test('apiKeyOf throws for a request without a guard', async () => {
  const server = Fastify()
  server.get('/', (request) => apiKeyOf(request))
  const { statusCode, json } = await server.inject('/')
  expect([statusCode, json().code]).toEqual([500, 'invalid_option'])
})

test('the guard of Hono works without a connection', async () => {
  const petStore = createPetStore()
  const app = new Hono().use(honoGuard(petStore, { getConnInfo })).get('/', (c) => c.text('served'))
  expect((await app.request('/')).status).toBe(401)
})

test('the guard of Hono keeps the newer headers of the API behind it', async () => {
  const petStore = createPetStore({ requestId: true })
  const { token } = await petStore.keys.issue({ plan: 'free' })
  const responses: Response[] = []
  const app = new Hono().use(honoGuard(petStore)).all('/v1/*', async (c) => {
    const response = await petStore.fetch(c.req.raw)
    responses.push(response.clone())
    return response
  })
  const { headers } = await app.request('/v1/pets', { headers: { authorization: `Bearer ${token}` } })
  expect(headers.get('x-ratelimit-remaining')).toBe('58')
  expect(headers.get('x-request-id')).toBe(responses[0]?.headers.get('x-request-id'))
})

test('the guard of Koa keeps the headers of an error', async () => {
  const petStore = createPetStore()
  const { token } = await petStore.keyStore.issue({ plan: 'free' })
  const app = new Koa()
  app.silent = true
  app.use(koaGuard(petStore)).use((context) => context.throw(402, 'Pay first', { headers: { 'x-price': '5' } }))
  const url = await startHost(createServer(app.callback()))
  const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
  expect(response.status).toBe(402)
  expect(Object.fromEntries(response.headers)).toMatchObject({ 'x-price': '5', 'x-ratelimit-remaining': '59' })
})

test('the guard of Koa gives an error that is thrown again the headers of its request', async () => {
  const petStore = createPetStore()
  const { token } = await petStore.keys.issue({ plan: 'free' })
  const error = Object.assign(new Error('broken'), { headers: { 'x-price': '5' } })
  const app = new Koa()
  app.silent = true
  app.use(koaGuard(petStore)).use(() => Promise.reject(error))
  const url = await startHost(createServer(app.callback()))
  for (const remaining of ['59', '58']) {
    const { headers } = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    expect(Object.fromEntries(headers)).toMatchObject({ 'x-price': '5', 'x-ratelimit-remaining': remaining })
  }
})

describe('a host that has already begun its response', () => {
  test('nodeGuard reports the error, and closes the connection', async () => {
    const errors: unknown[] = []
    const petStore = createPetStore({ onError: (error) => errors.push(error) })
    const { token } = await petStore.keys.issue({ plan: 'free' })
    const guard = nodeGuard(petStore)
    const keys: unknown[] = []
    const url = await startHost(async (request, response) => {
      response.writeHead(200).flushHeaders()
      keys.push(await guard(request, response))
    })
    const response = await fetch(url, { headers: { authorization: `Bearer ${token}` } })
    await expect(response.text()).rejects.toThrow()
    expect(keys).toEqual([undefined])
    expect(errors).toMatchObject([{ code: 'ERR_HTTP_HEADERS_SENT' }])
  })

  test('expressGuard passes the error to the next error handler', async () => {
    const petStore = createPetStore()
    const { token } = await petStore.keys.issue({ plan: 'free' })
    const app = express()
    app.use((_request, response, next) => {
      response.writeHead(200).flushHeaders()
      next()
    })
    app.use(expressGuard(petStore))
    const onError: ErrorRequestHandler = (error, _request, response, _next) => void response.end(error.code)
    app.use(onError)
    const response = await fetch(await startHost(createServer(app)), { headers: { authorization: `Bearer ${token}` } })
    expect(await response.text()).toBe('ERR_HTTP_HEADERS_SENT')
  })
})

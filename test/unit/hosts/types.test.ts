import { getConnInfo } from '@hono/node-server/conninfo'
import { Elysia } from 'elysia'
import express from 'express'
import Fastify from 'fastify'
import { getRequestIP, H3 } from 'h3'
import { Hono } from 'hono'
import Koa from 'koa'
import { expect, test } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { expressGuard, toExpressHandler } from '../../../adapters/hosts/express.ts'
import { apiKeyOf, fastifyGuard, toFastifyPlugin } from '../../../adapters/hosts/fastify.ts'
import { toFetchHandler } from '../../../adapters/hosts/fetch.ts'
import { type ApiKeyVariables, honoGuard } from '../../../adapters/hosts/hono.ts'
import { type ApiKeyState, koaGuard } from '../../../adapters/hosts/koa.ts'
import { serve } from '../../../adapters/hosts/node/index.ts'
import { createPetStore, PetStoreError, toApiRequest } from '../../../src/index.ts'

// The type checker compiles this file, so the handlers' parameter types must fit the types of Express and Fastify.

test('the handlers fit the types of Express and Fastify', async () => {
  const petStore = createPetStore()
  const router = express.Router().use(toExpressHandler(petStore))
  express().use('/shop', router).all('/{*path}', toExpressHandler(petStore))
  const server = Fastify()
  server.register(toFastifyPlugin, { petStore, prefix: '/shop' })
  await server.ready()
  expect(server.hasRoute({ method: 'POST', url: '/shop/v1/*' })).toBe(true)
})

test('the handlers compile and work in Hono, h3 and Elysia', async () => {
  const petStore = createPetStore()
  const handler = toFetchHandler(petStore)
  const hono = new Hono()
  hono.all('/v1/*', (c) => handler(c.req.raw, 'incoming' in Object(c.env) ? getConnInfo(c).remote.address : null))
  const h3 = new H3().all('/v1/**', (event) => handler(event.req, getRequestIP(event)))
  const toBun = toBunHandler(petStore)
  const elysia = new Elysia().all('/v1/*', ({ request, server }) => toBun(request, server), { parse: () => 1 })
  const request = () => new Request('http://localhost/v1/pets')
  const responses = [await hono.request('/v1/pets'), await h3.request('/v1/pets'), await elysia.handle(request())]
  expect(responses.map(({ status }) => status)).toEqual([401, 401, 401])
  const address = request().headers.get('cf-connecting-ip')
  expect((await petStore.handle(toApiRequest(request(), address))).status).toBe(401)
})

test('the lines for petStore.admit in docs/mounting.md compile and work in h3 and Elysia', async () => {
  const petStore = createPetStore()
  const h3 = new H3().get('/orders', async (event) => {
    const { key, headers, response } = await petStore.admit(event.req, getRequestIP(event))
    return response ?? Response.json({ account: key.account }, { headers })
  })
  const elysia = new Elysia().get('/orders', async ({ request, server }) => {
    const { key, headers, response } = await petStore.admit(request, server?.requestIP(request)?.address)
    return response ?? Response.json({ account: key.account }, { headers })
  })
  const { token } = await petStore.keyStore.issue({ plan: 'free', account: 'acme' })
  for (const send of [h3.request, elysia.handle]) {
    const authorized = new Request('http://localhost/orders', { headers: { authorization: `Bearer ${token}` } })
    expect(await (await send(authorized)).json()).toEqual({ account: 'acme' })
    expect((await send(new Request('http://localhost/orders'))).status).toBe(401)
  }
})

test('the guards fit the types of Express, Fastify, Hono and Koa', () => {
  const petStore = createPetStore()
  express().get('/orders', expressGuard(petStore), (_request, response) => {
    response.json(response.locals.apiKey.id satisfies string)
  })
  express().use('/orders', expressGuard(petStore), express.json(), express.Router())
  Fastify().get('/orders', { onRequest: fastifyGuard(petStore) }, (request) => apiKeyOf(request).id)
  new Hono().use(honoGuard(petStore, { getConnInfo }))
  new Hono<{ Variables: ApiKeyVariables }>().get('/', honoGuard(petStore), (c) => c.text(c.get('apiKey').id))
  new Koa().use(koaGuard(petStore))
  new Koa<ApiKeyState>().use(koaGuard(petStore)).use((context) => context.state.apiKey.id)
})

test('the line for Hono in docs/mounting.md passes the body on', async () => {
  const petStore = createPetStore()
  const { token } = await petStore.keys.issue({ plan: 'free' })
  const handler = toFetchHandler(petStore)
  const hono = new Hono()
  hono.use(async (c, next) => {
    await c.req.json()
    await next()
  })
  hono.all('/v1/*', async (c) =>
    handler(c.req.raw.bodyUsed ? new Request(c.req.raw, { body: await c.req.arrayBuffer() }) : c.req.raw),
  )
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = '{"name":"Rex","categoryId":9007199254740993}'
  const response = await hono.request('/v1/pets', { method: 'POST', headers, body })
  expect([response.status, await response.text()]).toEqual([201, expect.stringContaining('9007199254740993')])
})

test.each([false, 0, 2, []] as const)('handlers accept trustProxy %j', async (trustProxy) => {
  const petStore = createPetStore()
  for (const toHandler of [toBunHandler, toDenoHandler, toFetchHandler])
    expect(() => toHandler(petStore, { trustProxy })).not.toThrow()
  await (await serve(petStore, { port: 0, trustProxy })).close()
})

test.each([{ trustProxy: -1 }, { trustproxy: 1 }])('no handler can be created with the options %j', async (wrong) => {
  const petStore = createPetStore()
  const options = wrong as object
  for (const toHandler of [toBunHandler, toDenoHandler, toExpressHandler, toFetchHandler])
    expect(() => toHandler(petStore, options)).toThrow(PetStoreError)
  const server = Fastify()
  server.register(toFastifyPlugin, { petStore, ...options })
  await expect(server.ready()).rejects.toMatchObject({ code: 'invalid_option' })
})

test('Express and Fastify reject trustProxy, and say what to set instead', async () => {
  const petStore = createPetStore()
  const options = { trustProxy: 1 } as object
  expect(() => toExpressHandler(petStore, options)).toThrow(
    "option trustProxy: expected none: set app.set('trust proxy'",
  )
  const server = Fastify()
  server.register(toFastifyPlugin, { petStore, ...options })
  const message = expect.stringContaining('option trustProxy: expected none: set Fastify({ trustProxy')
  await expect(server.ready()).rejects.toMatchObject({ code: 'invalid_option', message })
})

test('accepts the plugin options that Fastify itself reads', async () => {
  const server = Fastify({ logger: { level: 'silent' } })
  server.register(toFastifyPlugin, {
    petStore: createPetStore(),
    logLevel: 'warn',
    logSerializers: { user: (user: unknown) => String(user) },
  })
  await expect(server.ready()).resolves.toBeDefined()
})

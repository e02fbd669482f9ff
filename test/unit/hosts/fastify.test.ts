import { once } from 'node:events'
import { createServer } from 'node:http'
import swagger from '@fastify/swagger'
import Fastify, { type FastifyInstance } from 'fastify'
import { describe, expect, onTestFinished, test } from 'vitest'
import { toFastifyPlugin } from '../../../adapters/hosts/fastify.ts'
import { createTestPetStore, type TestPetStore } from '../../../src/testing/index.ts'
import { rawConnection } from '../../support/raw-http.ts'

const animal = { name: 'Rex', categoryId: 1 }

async function shop(basePath: string, prefix?: string): Promise<{ server: FastifyInstance; petStore: TestPetStore }> {
  const petStore = await createTestPetStore({ basePath, cors: { origins: ['https://shop.example'] } })
  const server = Fastify()
  onTestFinished(() => server.close())
  server.register(toFastifyPlugin, { petStore, ...(prefix === undefined ? {} : { prefix }) })
  return { server, petStore }
}

const bearer = ({ token }: TestPetStore) => ({ authorization: `Bearer ${token}` })

describe('mount path', () => {
  const places = [
    { prefix: undefined, basePath: '/v1', address: '/v1' },
    { prefix: '/shop', basePath: '/v1', address: '/shop/v1' },
    { prefix: '/shop', basePath: '/shop/v1', address: '/shop/v1' },
    { prefix: '/v1', basePath: '/v1', address: '/v1' },
    { prefix: '/shop/', basePath: '/v1', address: '/shop/v1' },
    { prefix: '/shop/v1', basePath: '/v1', address: '/shop/v1' },
    { prefix: '/shop/v1', basePath: '/v1/api', address: '/shop/v1/api' },
    { prefix: '/:tenant', basePath: '/v1', address: '/acme/v1' },
    { prefix: '/sho', basePath: '/shop/v1', address: '/sho/shop/v1' },
    { prefix: undefined, basePath: '/', address: '' },
    { prefix: '/shop', basePath: '/', address: '/shop' },
  ]
  for (const { prefix, basePath, address } of places) {
    test(`with prefix ${prefix} and base path ${basePath}, serves ${address}/pets`, async () => {
      const { server, petStore } = await shop(basePath, prefix)
      const headers = bearer(petStore)
      for (let i = 0; i < 2; i++) {
        const added = await server.inject({ method: 'POST', url: `${address}/pets`, headers, payload: animal })
        expect(added.statusCode).toBe(201)
      }
      const page = await server.inject({ url: `${address}/pets?limit=1`, headers })
      expect(page.headers.link).toMatch(new RegExp(`^<${address}/pets\\?limit=1&cursor=`))
      expect(page.headers['content-type']).toBe('application/json')
      for (const path of ['', '/', '/dogs', '/pets/1/owner']) {
        const unknown = await server.inject({ url: `${address}${path}` || '/', headers })
        expect(unknown.json().code).toBe('route_not_found')
      }
    })
  }
})

test('the raw request emits end and close after its response', async () => {
  const petStore = await createTestPetStore()
  const server = Fastify()
  onTestFinished(() => server.close())
  const closed: Promise<unknown>[] = []
  server.addHook('onRequest', async ({ raw }) => void closed.push(Promise.all([once(raw, 'end'), once(raw, 'close')])))
  server.register(toFastifyPlugin, { petStore })
  const url = `${await server.listen({ port: 0 })}/v1/pets`
  const headers = { ...bearer(petStore), 'content-type': 'application/json' }
  for (let i = 0; i < 3; i++) {
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(animal) })
    expect(await answer.json()).toMatchObject({ id: i + 1 })
  }
  await Promise.all(closed)
  expect(closed).toHaveLength(3)
})

test("leaves the host's parsers, routes and errors unchanged", async () => {
  const { server, petStore } = await shop('/v1')
  server.addContentTypeParser('text/csv', { parseAs: 'string' }, (_request, body, done) => done(null, { csv: body }))
  server.post('/own', (request) => request.body)
  const own = (type: string, payload: string) =>
    server.inject({ method: 'POST', url: '/own', headers: { 'content-type': type }, payload })
  expect((await own('application/json', '{"a":1}')).json()).toEqual({ a: 1 })
  expect((await own('text/csv', 'a,b')).json()).toEqual({ csv: 'a,b' })
  expect((await own('application/json', '{')).statusCode).toBe(400)
  const headers = { ...bearer(petStore), 'content-type': 'text/csv' }
  const refused = await server.inject({ method: 'POST', url: '/v1/pets', headers, payload: 'a,b' })
  expect(refused.json().code).toBe('unsupported_media_type')
})

test("runs the host's hooks and keeps its Vary header", async () => {
  const { server, petStore } = await shop('/v1')
  const ran: string[] = []
  server.addHook('onRequest', async (_request, reply) => {
    ran.push('onRequest')
    reply.header('Vary', 'Cookie').header('X-Own', 'yes')
  })
  server.addHook('onSend', async (_request, reply) => {
    ran.push(`onSend ${reply.statusCode}`)
  })
  server.addHook('onResponse', async (_request, reply) => {
    ran.push(`onResponse ${reply.statusCode}`)
  })
  server.setErrorHandler(() => {
    ran.push('error handler')
  })
  const answer = await server.inject({ url: '/v1/pets?limit=0', headers: bearer(petStore) })
  expect(answer.statusCode).toBe(400)
  expect(answer.headers).toMatchObject({ vary: 'Cookie, Origin', 'x-own': 'yes' })
  expect(ran).toEqual(['onRequest', 'onSend 400', 'onResponse 400'])
})

test('sends no second response after a hook has responded', async () => {
  const { server, petStore } = await shop('/v1')
  server.addHook('onRequest', async (_request, reply) => reply.code(403).send({ own: true }))
  const answer = await server.inject({ url: '/v1/pets', headers: bearer(petStore) })
  expect(answer.statusCode).toBe(403)
})

test.each([
  [
    'a store that throws',
    () => {
      throw new Error('secret')
    },
  ],
  ['a store that returns nothing', () => undefined],
  ['a store that returns an invalid header', () => ({ status: 200, headers: ['X-A', 'secret\r\n'], body: '' })],
])('responds with 500 for %s', async (_, handle) => {
  const petStore = { ...(await createTestPetStore()), handle: handle as never }
  const server = Fastify()
  server.register(toFastifyPlugin, { petStore })
  const answer = await server.inject('/v1/pets')
  expect(answer.json()).toMatchObject({ code: 'internal_error', status: 500 })
  expect(answer.body).not.toContain('secret')
})

test('responds with 500 when a hook of the host sets an invalid header', async () => {
  const { server } = await shop('/v1')
  server.addHook('onRequest', async (_, reply) => void reply.header('x-host', 'a\u0001'))
  const answer = await server.inject('/v1/pets')
  expect(answer.json()).toMatchObject({ code: 'internal_error', status: 500 })
})

test('serves the rewritten URL, not the original URL', async () => {
  const petStore = await createTestPetStore()
  const server = Fastify({
    rewriteUrl: ({ url = '' }) => url.replace('/v1/animals', '/v1/pets').replace('per_page', 'limit'),
  })
  server.register(toFastifyPlugin, { petStore })
  server.register(toFastifyPlugin, { petStore, prefix: '/shop' })
  for (let i = 0; i < 2; i++)
    await server.inject({ method: 'POST', url: '/v1/pets', headers: bearer(petStore), payload: animal })
  for (const prefix of ['', '/shop']) {
    const { headers } = await server.inject({ url: `${prefix}/v1/animals?per_page=1`, headers: bearer(petStore) })
    expect(headers.link).toMatch(`<${prefix}/v1/pets?limit=1&cursor=`)
  }
})

test('reads the rest of a rejected upload, then responds and closes the connection', async () => {
  const { server } = await shop('/v1')
  const errors: unknown[] = []
  server.addHook('onError', async (_request, _reply, error) => void errors.push(error))
  const connection = await rawConnection(await server.listen({ port: 0 }))
  const head = 'Host: a\r\nConnection: close\r\nContent-Type: text/csv\r\nContent-Length: 2\r\n\r\n'
  await connection.send(`POST /v1/pets HTTP/1.1\r\n${head}`)
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  expect(connection.socket.bytesRead).toBe(0)
  await connection.send('ab')
  expect((await connection.answer()).status).toBe(401)
  await connection.closed()
  expect(errors).toEqual([])
})

test('uses request headers that a hook has changed', async () => {
  const { server, petStore } = await shop('/v1')
  server.addHook('onRequest', async ({ raw }) => {
    Object.assign(raw.headers, bearer(petStore))
  })
  const answer = await server.inject({ url: '/v1/pets', headers: { authorization: 'Basic abc' } })
  expect(answer.statusCode).toBe(200)
})

test('a response without a body has no Content-Type', async () => {
  const { server, petStore } = await shop('/v1')
  const { statusCode, headers } = await server.inject({ method: 'OPTIONS', url: '/v1/pets', headers: bearer(petStore) })
  expect([statusCode, headers['content-type'], headers['content-length']]).toEqual([204, undefined, undefined])
})

test('links contain a prefix that an outer router has removed', async () => {
  const petStore = await createTestPetStore()
  const server = Fastify({
    serverFactory: (handler) =>
      createServer((request, response) => {
        const { url = '' } = request
        handler(Object.assign(request, { originalUrl: url, url: url.replace('/outer', '') }), response)
      }),
  })
  onTestFinished(() => server.close())
  server.register(toFastifyPlugin, { petStore })
  const answer = await fetch(`${await server.listen({ port: 0 })}/outer/v1/pets/1`, { headers: bearer(petStore) })
  expect(answer.headers.get('link')).toBe('</outer/v1/pets>; rel="successor-version"')
})

test("the document of @fastify/swagger has only the host's own operations", async () => {
  const server = Fastify()
  onTestFinished(() => server.close())
  await server.register(swagger)
  server.register(toFastifyPlugin, { petStore: await createTestPetStore() })
  server.register(toFastifyPlugin, { petStore: await createTestPetStore({ basePath: '/' }), prefix: '/shop' })
  server.get('/own', () => 'own')
  await server.ready()
  expect(Object.keys(server.swagger().paths ?? {})).toEqual(['/own'])
})

test('a hook makes the id of Fastify the id of the response', async () => {
  const petStore = await createTestPetStore({ requestId: true })
  const server = Fastify({ genReqId: () => 'host-7' })
  onTestFinished(() => server.close())
  server.addHook('onRequest', async (request) => {
    request.raw.headers['x-request-id'] = request.id
  })
  server.register(toFastifyPlugin, { petStore })
  expect((await server.inject('/v1/pets')).headers['x-request-id']).toBe('host-7')
})

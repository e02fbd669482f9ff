import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ExpressHandler, toExpressHandler } from '../../../adapters/hosts/express.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'

type App = ReturnType<typeof express>

const express4 = createRequire(import.meta.url)('express4') as typeof express

/** An app with a store mounted in it, and ways to ask it. What the store passes on has the status 299. */
async function shop(basePath: string, app: App, mount: (app: App, handler: ExpressHandler) => unknown) {
  const store = await createTestPetStore({ basePath })
  mount(app, toExpressHandler(store))
  app.use((_: unknown, response: { status(code: number): { end(): void } }) => void response.status(299).end())
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return (url: string, method = 'GET') =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${url}`, {
      method,
      headers: { authorization: `Bearer ${store.token}`, connection: 'close', 'content-type': 'application/json' },
      body: method === 'POST' ? '{"name":"Rex","categoryId":1}' : null,
    })
}

describe.each([
  [5, express],
  [4, express4],
])('Express %i', (_version, make) => {
  test.each([
    ['/shop', '/v1', '/shop/v1'],
    ['/shop', '/shop/v1', '/shop/v1'],
    ['/v1', '/v1', '/v1'],
    ['/shop/v1', '/v1', '/shop/v1'],
    ['/shop/v1', '/v1/api', '/shop/v1/api'],
    ['/:tenant', '/v1', '/acme/v1'],
    ['/:tenant', '/v1', '/v1/v1'],
    ['/:tenant', '/api/v1', '/api/api/v1'],
    ['/', '/v1', '/v1'],
  ])('mounted at %s with the base path %s it serves %s', async (mount, basePath, path) => {
    const ask = await shop(basePath, make(), (app, handler) => app.use(mount, handler))
    const served = await ask(`${path}/pets/1`)
    expect([served.status, served.headers.get('link')]).toEqual([404, `<${path}/pets>; rel="successor-version"`])
    expect((await ask('/elsewhere/pets/1')).status).toBe(299)
  })

  test('in a Router of a Router, the base path may be the prefix of the inner one', async () => {
    const ask = await shop('/v1', make(), (app, handler) =>
      app.use('/shop', make.Router().use('/inner', make.Router().use('/v1', handler))),
    )
    expect((await ask('/shop/inner/v1/pets/1')).headers.get('link')).toBe(
      '</shop/inner/v1/pets>; rel="successor-version"',
    )
    expect((await ask('/shop/inner/v2/pets/1')).status).toBe(299)
  })

  test.each([
    ['use', '/shop/*s', '/shop'],
    ['all', '/shop/*s', '/shop'],
    ['all', '/shop/:tenant/*s', '/shop/acme'],
    ['use', '/*s', ''],
    ['all', '/*s', ''],
    ['all', '/shop/v1/*s', '/shop'],
  ] as const)('app.%s on the wildcard %s: a prefix before it is one', async (how, wildcard, prefix) => {
    const pattern = make === express ? wildcard : wildcard.replace('*s', '*')
    const ask = await shop('/v1', make(), (app, handler) => app[how](pattern, handler))
    for (let i = 0; i < 2; i++) expect((await ask(`${prefix}/v1/pets`, 'POST')).status).toBe(201)
    for (const target of ['/v1/pets?limit=1', '/v1/pets/?limit=1']) {
      const page = await ask(prefix + target)
      const path = target.slice(0, target.indexOf('?'))
      expect([page.status, page.headers.get('link')]).toEqual([
        200,
        `<${prefix}${path}?limit=1&cursor=MTox>; rel="next"`,
      ])
    }
    expect((await ask(`${prefix}/elsewhere/v1/pets`)).status).toBe(299)
    expect((await ask(`${prefix}/v2/pets`)).status).toBe(299)
    expect((await ask(`${prefix}//v1/pets`)).status).toBe(299)
    expect((await ask(`${prefix}/v1/pets/`)).status).toBe(200)
    for (const path of ['/v1/pets%2F1', '/v1/pets/a%2fb', '/v1/pets/%252F'])
      expect((await ask(prefix + path)).status).toBe(404)
    expect((await ask(`${prefix}${'/x'.repeat(4_000)}%2Fx`)).status).toBe(299)
  })

  test('two slashes before a base path that a route names between its wildcards are another path', async () => {
    const pattern = make === express ? '/*s/v1/*t' : '/*/v1/*'
    const ask = await shop('/v1', make(), (app, handler) => app.all(pattern, handler))
    expect((await ask('/shop/v1/pets')).status).toBe(200)
    expect((await ask('/shop//v1/pets')).status).toBe(299)
  })

  test('mounted at the very path that is asked for, it adds no slash to it', async () => {
    const ask = await shop('/v1', make(), (app, handler) => app.use('/v1/pets', handler))
    for (let i = 0; i < 2; i++) await ask('/v1/pets', 'POST')
    expect((await ask('/v1/pets?limit=1')).headers.get('link')).toMatch(/^<\/v1\/pets\?limit=1&/)
    expect((await ask('/v1/pets/?limit=1')).headers.get('link')).toMatch(/^<\/v1\/pets\/\?limit=1&/)
  })

  test('what the host has made of the very path at which it is mounted is for the store', async () => {
    const ask = await shop('/v1', make(), (app, handler) =>
      app.use('/v1', (request, response, next) => {
        request.url = '/pets'
        handler(request, response, next)
      }),
    )
    expect((await ask('/v1')).status).toBe(200)
  })

  test('what the host has made another path is no longer for the store', async () => {
    const app = make()
    app.use((request, _response, next) => {
      if (request.url === '/v1/health') request.url = '/health'
      next()
    })
    const ask = await shop('/v1', app, (app, handler) => app.use(handler))
    expect((await ask('/v1/health')).status).toBe(299)
    expect((await ask('/v1/unhealthy')).status).toBe(404)
  })
})

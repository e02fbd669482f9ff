import { once } from 'node:events'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type ExpressHandler, toExpressHandler } from '../../../adapters/hosts/express.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'

type App = ReturnType<typeof express>

const express4 = createRequire(import.meta.url)('express4') as typeof express

/** Starts an Express app with a store. Returns a function that sends requests. If the store calls `next`, the status is 299. */
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
    ['/shop', '/shop/v1', '/shop/v1'],
    ['/shop/v1', '/v1', '/shop/v1'],
    ['/shop/v1', '/v1/api', '/shop/v1/api'],
    ['/:tenant', '/v1', '/v1/v1'],
    ['/:tenant', '/api/v1', '/api/api/v1'],
  ])('Express, mounted at %s with base path %s, serves %s', async (mount, basePath, path) => {
    const ask = await shop(basePath, make(), (app, handler) => app.use(mount, handler))
    const served = await ask(`${path}/pets/1`)
    expect([served.status, served.headers.get('link')]).toEqual([404, `<${path}/pets>; rel="successor-version"`])
    expect((await ask('/elsewhere/pets/1')).status).toBe(299)
  })

  test('links keep the final slash of a store mounted at /v1/pets', async () => {
    const ask = await shop('/v1', make(), (app, handler) => app.use('/v1/pets', handler))
    for (let i = 0; i < 2; i++) await ask('/v1/pets', 'POST')
    expect((await ask('/v1/pets?limit=1')).headers.get('link')).toMatch(/^<\/v1\/pets\?limit=1&/)
    expect((await ask('/v1/pets/?limit=1')).headers.get('link')).toMatch(/^<\/v1\/pets\/\?limit=1&/)
  })
})

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { toExpressHandler } from '../../adapters/express.ts'
import { createTestPetStore } from '../../src/testing/index.ts'

test.each([
  ['/shop', '/v1', '/shop/v1'],
  ['/shop', '/shop/v1', '/shop/v1'],
  ['/v1', '/v1', '/v1'],
  ['/:tenant', '/v1', '/acme/v1'],
  ['/:tenant', '/v1', '/v1/v1'],
  ['/:tenant', '/api/v1', '/api/api/v1'],
  ['/', '/v1', '/v1'],
])('mounted at %s with the base path %s it serves %s', async (mount, basePath, path) => {
  const store = await createTestPetStore({ basePath })
  const app = express()
    .use(mount, toExpressHandler(store))
    .use((_, response) => void response.status(299).end())
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  const ask = (url: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${url}`, {
      headers: { authorization: `Bearer ${store.token}`, connection: 'close' },
    })
  const served = await ask(`${path}/pets/1`)
  expect([served.status, served.headers.get('link')]).toEqual([404, `<${path}/pets>; rel="successor-version"`])
  expect((await ask('/elsewhere/pets/1')).status).toBe(299)
})

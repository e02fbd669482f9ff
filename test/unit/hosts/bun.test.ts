import { Elysia } from 'elysia'
import { expect, test } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { createPetStore } from '../../../src/index.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'

test('reads the client address once, before the key is looked up', async () => {
  const asked: string[] = []
  const find = async () => {
    asked.push('key')
    return undefined
  }
  const handler = toBunHandler(createPetStore({ keyStore: { find }, onResponse: () => asked.push('response') }))
  const requestIP = () => {
    asked.push('address')
    return null
  }
  const request = new Request('http://localhost/v1/pets', { headers: { authorization: 'Bearer a' } })
  expect((await handler(request, { requestIP })).status).toBe(401)
  expect(asked).toEqual(['address', 'key', 'response'])
})

test.each([
  [29, { 'content-length': '29' }, 201],
  [28, { 'content-length': '29' }, 413],
  [29, {}, 201],
  [28, {}, 413],
])('with bodyLimit %i, 29 bytes with the headers %j get status %i', async (bodyLimit, length, status) => {
  const { token, ...petStore } = await createTestPetStore({ bodyLimit })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...length }
  const request = new Request('http://a/v1/pets', { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' })
  const response = await toBunHandler(petStore)(request, { requestIP: () => ({ address: '192.0.2.1' }) })
  expect(response.status).toBe(status)
})

test.each([
  [null, 401],
  [undefined, 401],
  [{}, 500],
])('if %j is passed as the server, toBunHandler responds with %i', async (server, status) => {
  const seen: unknown[] = []
  const handler = toBunHandler(
    createPetStore({ onResponse: ({ clientAddress }) => void seen.push(clientAddress), onError: () => {} }),
  )
  const response = await handler(new Request('http://localhost/v1/pets'), server as null)
  expect([response.status, seen]).toEqual([status, [undefined]])
})

test('a request has no client address if requestIP throws', async () => {
  const seen: unknown[] = []
  const handler = toBunHandler(createPetStore({ onResponse: ({ clientAddress }) => void seen.push(clientAddress) }))
  const requestIP = () => {
    throw new TypeError('Expected Request object')
  }
  expect((await handler(new Request('http://localhost/v1/pets'), { requestIP })).status).toBe(401)
  expect(seen).toEqual([undefined])
})

test.each([true, false])('the line for Elysia in docs/mounting.md reads a body with aot: %s', async (aot) => {
  const { token, ...petStore } = await createTestPetStore()
  const handler = toBunHandler(petStore)
  // `server` is null, because `handle` starts none.
  const app = new Elysia({ aot }).all('/v1/*', ({ request }) => handler(request, null), { parse: () => 1 })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = '{"name":"Rex","categoryId":1}'
  const response = await app.handle(new Request('http://localhost/v1/pets', { method: 'POST', headers, body }))
  expect(response.status).toBe(201)
})

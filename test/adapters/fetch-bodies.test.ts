import { describe, expect, test } from 'vitest'
import { toBunHandler } from '../../adapters/bun.ts'
import { toDenoHandler } from '../../adapters/deno.ts'
import { createTestPetStore } from '../../src/testing/index.ts'

/** The doors, as their runtimes would call them with a Request that the host has made itself. */
const doors = {
  Bun: (store: Parameters<typeof toBunHandler>[0]) => {
    const handler = toBunHandler(store)
    return (request: Request) => handler(request, { requestIP: () => null })
  },
  Deno: (store: Parameters<typeof toDenoHandler>[0]) => {
    const handler = toDenoHandler(store)
    return (request: Request) => handler(request, { remoteAddr: { hostname: '127.0.0.1' } })
  },
}

describe.each(Object.entries(doors))('%s', (_, door) => {
  test('an empty body is empty, whoever has read it', async () => {
    const { token, ...store } = await createTestPetStore()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': '0' }
    const request = new Request('http://a/v1/pets', { method: 'POST', headers, body: '' })
    await request.text()
    const response = await door(store)(request)
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'malformed_json' }])
  })

  test.each(['0', '5', 'abc', '', '-1', '5, 5'])(
    'a body that a host has unpacked is read by its bytes, whatever length is stated: %j',
    async (length) => {
      const { token, ...store } = await createTestPetStore({ bodyLimit: 100 })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': length }
      const body = JSON.stringify({ name: 'x'.repeat(500), categoryId: 1 })
      const response = await door(store)(new Request('http://a/v1/pets', { method: 'POST', headers, body }))
      expect(response.status).toBe(413)
    },
  )
})

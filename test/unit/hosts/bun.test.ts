import { expect, onTestFinished, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { createPetStore } from '../../../src/index.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'

test('Bun is asked for an address once, before anything is waited for, though it knows none', async () => {
  const asked: string[] = []
  const find = async () => {
    asked.push('key')
    return undefined
  }
  const answer = toBunHandler(createPetStore({ keyStore: { find }, onResponse: () => asked.push('response') }))
  const requestIP = () => {
    asked.push('address')
    return null
  }
  const request = new Request('http://localhost/v1/pets', { headers: { authorization: 'Bearer a' } })
  expect((await answer(request, { requestIP })).status).toBe(401)
  expect(asked).toEqual(['address', 'key', 'response'])
})

test.each([
  [29, { 'content-length': '29' }, 201],
  [28, { 'content-length': '29' }, 413],
  [29, {}, 201],
  [28, {}, 413],
])('a body of 29 bytes under a limit of %i, of which %j tells, is %i', async (bodyLimit, length, status) => {
  const { token, ...petStore } = await createTestPetStore({ bodyLimit })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...length }
  const request = new Request('http://a/v1/pets', { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' })
  const response = await toBunHandler(petStore)(request, { requestIP: () => ({ address: '192.0.2.1' }) })
  expect(response.status).toBe(status)
})

test('a global Bun that is not the runtime does no harm', async () => {
  vi.stubGlobal('Bun', {})
  onTestFinished(() => void vi.unstubAllGlobals())
  vi.resetModules()
  const { toBunHandler } = await import('../../../adapters/hosts/bun.ts')
  const answer = toBunHandler(createPetStore())
  expect((await answer(new Request('http://localhost/v1/pets'), { requestIP: () => null })).status).toBe(401)
})

test('a Request of which Bun cannot be asked has no address', async () => {
  const seen: unknown[] = []
  const answer = toBunHandler(createPetStore({ onResponse: ({ clientAddress }) => void seen.push(clientAddress) }))
  const requestIP = () => {
    throw new TypeError('Expected Request object')
  }
  expect((await answer(new Request('http://localhost/v1/pets'), { requestIP })).status).toBe(401)
  expect(seen).toEqual([undefined])
})

test('a host that does not hand over the server is told so: strangers would not be counted', async () => {
  const onError = vi.fn()
  const answer = toBunHandler(createPetStore({ onError })) as (request: Request) => Response | Promise<Response>
  expect((await answer(new Request('http://localhost/v1/pets'))).status).toBe(500)
  expect(onError).toHaveBeenCalledOnce()
})

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'
import { startApi } from '../../support/api.ts'
import { until } from '../../support/until.ts'

/** Each function calls a handler as Bun, Deno or Hono would call it, with a Request that the host has built itself. */
const handlers = {
  Bun: (store: Parameters<typeof toBunHandler>[0]) => {
    const handler = toBunHandler(store)
    return (request: Request) => handler(request, { requestIP: () => null })
  },
  Deno: (store: Parameters<typeof toDenoHandler>[0]) => {
    const handler = toDenoHandler(store)
    return (request: Request) => handler(request, { remoteAddr: { hostname: '127.0.0.1' } })
  },
  fetch: (store: Parameters<typeof toDenoHandler>[0]) => store.fetch,
}

describe.each(Object.entries(handlers))('request bodies, handler: %s', (_, toFetch) => {
  test('accepts an empty body that the host has read', async () => {
    const { token, ...store } = await createTestPetStore()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': '0' }
    const request = new Request('http://a/v1/pets', { method: 'POST', headers, body: '' })
    await request.text()
    const response = await toFetch(store)(request)
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'malformed_json' }])
  })

  test.each(['0', '5', 'abc', '', '-1', '5, 5'])(
    'applies bodyLimit to the received bytes if Content-Length is %j',
    async (length) => {
      const { token, ...store } = await createTestPetStore({ bodyLimit: 100 })
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': length }
      const body = JSON.stringify({ name: 'x'.repeat(500), categoryId: 1 })
      const response = await toFetch(store)(new Request('http://a/v1/pets', { method: 'POST', headers, body }))
      expect(response.status).toBe(413)
    },
  )

  test('rejects a body that is shorter than Content-Length', async () => {
    const { token, ...store } = await createTestPetStore()
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'content-length': '30' }
    const request = new Request('http://a/v1/pets', { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' })
    const response = await toFetch(store)(request)
    expect([response.status, await response.json()]).toMatchObject([400, { code: 'incomplete_body' }])
  })
})

/** Returns a Request with a body whose stream reports its end and its cancellation. */
function upload(headers: Record<string, string>, onEnd = () => {}, onCancel = () => {}) {
  let left = 3
  const body = new ReadableStream({
    pull(stream) {
      if (left-- > 0) return stream.enqueue(new Uint8Array(100_000))
      stream.close()
      onEnd()
    },
    cancel: onCancel,
  })
  return new Request('http://a/v1/pets', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
}

const JSON_TYPE = { 'content-type': 'application/json' }

const rejections: [what: string, status: number, headers: Record<string, string>][] = [
  ['without a key', 401, { authorization: 'none' }],
  ['of another type', 415, {}],
  ['over the limit', 413, JSON_TYPE],
  ['over the limit by its Content-Length', 413, { ...JSON_TYPE, 'content-length': '300000' }],
]

describe.each([
  ['Bun', handlers.Bun],
  ['fetch', handlers.fetch],
])('rejected uploads, handler: %s', (_, toFetch) => {
  test.each(rejections)('reads an upload %s to its end after the response', async (_, status, headers) => {
    const { petStore, token } = await startApi()
    const ended = vi.fn()
    const cancelled = vi.fn()
    const request = upload({ authorization: `Bearer ${token}`, ...headers }, ended, cancelled)
    expect((await toFetch(petStore)(request)).status).toBe(status)
    await until(async () => ended.mock.calls.length > 0)
    expect(cancelled).not.toHaveBeenCalled()
  })

  test('responds before it reads the rest of an upload', async () => {
    const { petStore } = await startApi()
    const request = upload({})
    expect((await toFetch(petStore)(request)).status).toBe(401)
    expect(request.bodyUsed).toBe(false)
  })
})

test.each(rejections)('Deno: cancels an upload %s', async (_, status, headers) => {
  const { petStore, token } = await startApi()
  const cancelled = vi.fn()
  const request = upload({ authorization: `Bearer ${token}`, ...headers }, undefined, cancelled)
  expect((await handlers.Deno(petStore)(request)).status).toBe(status)
  expect(cancelled).toHaveBeenCalledOnce()
})

test.each(Object.entries(handlers))('%s: leaves a body alone that the host reads', async (_, toFetch) => {
  const rejected = vi.fn()
  process.on('unhandledRejection', rejected)
  onTestFinished(() => void process.off('unhandledRejection', rejected))
  const request = upload({})
  const reader = request.body?.getReader()
  expect((await toFetch((await startApi()).petStore)(request)).status).toBe(401)
  await new Promise((resolve) => setTimeout(resolve))
  expect((await reader?.read())?.value?.length).toBe(100_000)
  expect(rejected).not.toHaveBeenCalled()
})

test.each(Object.entries(handlers))('%s: leaves a body to the host until a 404 is sent', async (_, toFetch) => {
  const { petStore, token } = await startApi()
  const headers = { authorization: `Bearer ${token}` }
  const passedOn = new Request('http://a/elsewhere', { method: 'POST', headers, body: 'hello' })
  expect((await toFetch(petStore)(passedOn)).status).toBe(404)
  await new Promise((resolve) => setTimeout(resolve))
  expect(await passedOn.text()).toBe('hello')
  const sent = new Request('http://a/elsewhere', { method: 'POST', headers, body: 'hello' })
  const response = await toFetch(petStore)(sent)
  expect([sent.bodyUsed, response.headers.get('content-length')]).toEqual([false, expect.stringMatching(/^\d+$/)])
  expect((await response.json()).code).toBe('route_not_found')
  await until(async () => sent.bodyUsed)
})

import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { createTestPetStore } from '../../../src/testing/index.ts'
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

describe('Bun', () => {
  const toFetch = handlers.Bun

  test('discards the rest of a body over the limit, and never cancels it', async () => {
    const { token, ...store } = await createTestPetStore({ bodyLimit: 100 })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    let left = 200
    const cancel = vi.fn()
    const body = new ReadableStream({
      pull: (stream) => (left-- > 0 ? stream.enqueue(new Uint8Array(65_536)) : stream.close()),
      cancel,
    })
    const request = new Request('http://a/v1/pets', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    expect((await toFetch(store)(request)).status).toBe(413)
    await until(async () => left === -1)
    expect(cancel).not.toHaveBeenCalled()
  })

  test.each([1, 1_048_576])('stops reading an endless body in chunks of %i bytes', async (length) => {
    const { token, ...store } = await createTestPetStore({ bodyLimit: 100 })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const piece = new Uint8Array(length)
    const cancel = vi.fn()
    let pieces = 0
    const body = new ReadableStream({
      pull: (stream) => {
        pieces++
        stream.enqueue(piece)
      },
      cancel,
    })
    const request = new Request('http://a/v1/pets', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    expect((await toFetch(store)(request)).status).toBe(413)
    await new Promise(setImmediate)
    const read = pieces * (length + 1_000)
    await new Promise(setImmediate)
    expect(read).toBeGreaterThan(1_000_000_000)
    expect(pieces * (length + 1_000)).toBe(read)
    expect(cancel).not.toHaveBeenCalled()
  })

  test.each([undefined, null, 'text'])('ignores the invalid chunk %s after a body over the limit', async (odd) => {
    const { token, ...store } = await createTestPetStore({ bodyLimit: 100 })
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const pieces: unknown[] = [new Uint8Array(101), odd]
    const body = new ReadableStream({ pull: (stream) => stream.enqueue(pieces.shift()) }, { highWaterMark: 0 })
    const rejected = vi.fn()
    process.on('unhandledRejection', rejected)
    onTestFinished(() => void process.off('unhandledRejection', rejected))
    const request = new Request('http://a/v1/pets', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
    expect((await toFetch(store)(request)).status).toBe(413)
    await new Promise(setImmediate)
    expect(pieces).toEqual([])
    expect(rejected).not.toHaveBeenCalled()
  })
})

test('Deno: cancels the rest of a body over the limit', async () => {
  const { token, ...store } = await createTestPetStore({ bodyLimit: 100 })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  let isCancelled = false
  const body = new ReadableStream({
    pull: (stream) => stream.enqueue(new Uint8Array(64)),
    cancel: () => {
      isCancelled = true
    },
  })
  const request = new Request('http://a/v1/pets', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  expect((await handlers.Deno(store)(request)).status).toBe(413)
  expect(isCancelled).toBe(true)
})

test('Deno: cancels an unread body unless the host reads it', async () => {
  const store = await createTestPetStore()
  let isCancelled = false
  const body = () =>
    new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(3)),
      cancel: () => {
        isCancelled = true
      },
    })
  const upload = () => new Request('http://a/v1/pets', { method: 'POST', body: body(), duplex: 'half' } as RequestInit)
  const read = upload()
  const reader = read.body?.getReader()
  expect((await handlers.Deno(store)(read)).status).toBe(401)
  expect([isCancelled, (await reader?.read())?.value?.length]).toEqual([false, 3])
  expect((await handlers.Deno(store)(upload())).status).toBe(401)
  expect(isCancelled).toBe(true)
})

test('Deno: leaves the body readable for the host after route_not_found', async () => {
  const store = await createTestPetStore()
  const headers = { authorization: `Bearer ${store.token}` }
  const request = new Request('http://a/elsewhere', { method: 'POST', headers, body: 'hello' })
  expect((await handlers.Deno(store)(request)).status).toBe(404)
  expect(await request.text()).toBe('hello')
  const sent = new Request('http://a/elsewhere', { method: 'POST', headers, body: 'hello' })
  const response = await handlers.Deno(store)(sent)
  expect([sent.bodyUsed, (await response.json()).code, sent.bodyUsed]).toEqual([false, 'route_not_found', true])
})

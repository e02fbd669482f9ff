import { getEventListeners } from 'node:events'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { buildRequest } from '../../../src/http/fetch.ts'
import { allowOf } from '../../../src/http/routes.ts'
import { createPetStore, type KeyStore, toApiRequest, toResponse } from '../../../src/index.ts'
import { startApi } from '../../support/api.ts'

test('toResponse keeps repeated headers and adds no header', () => {
  const headers = ['Content-Type', 'application/json', 'Vary', 'Origin', 'vary', 'Accept-Encoding', 'Vary', 'Cookie']
  const cookies = ['Set-Cookie', 'a=1', 'set-cookie', 'b=2']
  const response = toResponse({ status: 200, headers: [...headers, ...cookies], body: '[]' })
  expect([...response.headers]).toEqual([
    ['content-type', 'application/json'],
    ['set-cookie', 'a=1'],
    ['set-cookie', 'b=2'],
    ['vary', 'Origin, Accept-Encoding, Cookie'],
  ])
})

test('toResponse keeps status and body', async () => {
  const made = toResponse({ status: 201, headers: [], body: 'é' })
  expect([made.status, await made.text(), [...made.headers]]).toEqual([201, 'é', []])
  const empty = toResponse({ status: 204, headers: ['Allow', 'GET'], body: '' })
  expect([empty.status, empty.body, empty.headers.get('allow')]).toEqual([204, null, 'GET'])
  const untyped = toResponse({ status: 200, headers: ['Allow', 'GET'], body: 'a' })
  expect([...untyped.headers]).toEqual([['allow', 'GET']])
})

describe('a body with Content-Length', () => {
  function upload() {
    let stream = {} as ReadableStreamDefaultController<Uint8Array>
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        stream = controller
      },
    })
    const client = new AbortController()
    const headers = { 'content-length': '5' }
    const init = { method: 'POST', headers, body, duplex: 'half', signal: client.signal } as RequestInit
    return { request: new Request('http://a', init), stream, client }
  }

  test.each(['before the read', 'during the read'])('the body is incomplete after a disconnect: %s', async (when) => {
    const { request, client } = upload()
    if (when === 'before the read') client.abort(new Error('gone'))
    const read = toApiRequest(request).body(9)
    client.abort(new Error('gone'))
    await expect(read).rejects.toMatchObject({ code: 'incomplete_body', cause: new Error('gone') })
  })

  test('waits for a late body while the client stays connected', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const { request, stream } = upload()
    const read = toApiRequest(request).body(9)
    vi.advanceTimersByTime(1_000)
    stream.enqueue(new TextEncoder().encode('hello'))
    stream.close()
    expect(new TextDecoder().decode(await read)).toBe('hello')
    expect(getEventListeners(request.signal, 'abort')).toEqual([])
  })

  test('the body is incomplete if its stream fails', async () => {
    const { request, stream } = upload()
    const cause = new Error('reset')
    const read = toApiRequest(request).body(9)
    stream.error(cause)
    await expect(read).rejects.toMatchObject({ code: 'incomplete_body', cause })
  })

  test('the body counts as read if other code has locked its stream', async () => {
    const { request } = upload()
    request.body?.getReader()
    await expect(toApiRequest(request).body(9)).rejects.toMatchObject({
      code: 'body_already_read',
      message: expect.stringContaining('mount the pet store before it, or pass new Request(request, { body })'),
    })
  })
})

test('rejects a Content-Length over the limit before it reads the body', async () => {
  const pull = vi.fn()
  const body = new ReadableStream({ pull }, { highWaterMark: 0 })
  const headers = { 'content-length': '10' }
  const request = new Request('http://a', { method: 'POST', headers, body, duplex: 'half' } as RequestInit)
  await expect(toApiRequest(request).body(9)).rejects.toMatchObject({
    code: 'payload_too_large',
    message: 'The body is too large: expected at most 9 bytes.',
  })
  expect(pull).not.toHaveBeenCalled()
})

test.each([
  ['203.0.113.7', '203.0.113.7'],
  [null, undefined],
  [undefined, undefined],
])('toApiRequest takes the client address %s', (given, clientAddress) => {
  expect(toApiRequest(new Request('http://a'), given)).toMatchObject({ clientAddress })
})

test('the incomplete_body error contains its cause', async () => {
  const ask = (body: ReadableStream, signal: AbortSignal) => {
    const request = new Request('http://a', { method: 'POST', body, duplex: 'half', signal } as RequestInit)
    return toApiRequest(request).body(9)
  }
  const cause = new Error('gone')
  const broken = new ReadableStream({ pull: (controller) => controller.error(cause) })
  await expect(ask(broken, new AbortController().signal)).rejects.toMatchObject({ code: 'incomplete_body', cause })
  await expect(ask(new ReadableStream(), AbortSignal.abort(cause))).rejects.toMatchObject({ cause })
  const text = new ReadableStream({ start: (controller) => controller.enqueue('a') })
  await expect(ask(text, new AbortController().signal)).rejects.toMatchObject({
    code: 'incomplete_body',
    cause: new TypeError('the body stream returned something other than bytes'),
  })
})

test('after a disconnect, accepts a body without Content-Length only if it is chunked', async () => {
  const read = (headers: Record<string, string>) => {
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Uint8Array.of(97))
        controller.close()
      },
    })
    const signal = AbortSignal.abort(new Error('gone'))
    const request = { method: 'POST', url: 'http://a', headers: new Headers(headers), body, bodyUsed: false, signal }
    return toApiRequest(request as unknown as Request).body(9)
  }
  expect(await read({ 'transfer-encoding': 'chunked' })).toEqual(Uint8Array.of(97))
  await expect(read({})).rejects.toMatchObject({ code: 'incomplete_body', cause: new Error('gone') })
})

test('toApiRequest removes its abort listener after reading the body', async () => {
  const { signal } = new AbortController()
  const { body } = new Response('a')
  const request = { method: 'POST', url: 'http://a', headers: new Headers(), body, bodyUsed: false, signal }
  expect(await toApiRequest(request as Request).body(1)).toEqual(Uint8Array.of(97))
  expect(getEventListeners(signal, 'abort')).toEqual([])
})

test.each<[string, unknown, string]>([
  ['a request of Node', { method: 'GET', url: '/v1/pets', headers: { host: 'a' } }, 'an object'],
  ['an object without headers', { url: '/v1/pets' }, 'an object'],
  ['nothing', undefined, 'nothing'],
])('fetch rejects %s', async (_, request, received) => {
  await expect(createPetStore().fetch(request as Request)).rejects.toMatchObject({
    code: 'invalid_option',
    message: `option request: expected a Request, a URL or a string, got ${received}`,
  })
})

test.each([
  ['a string', 'http://a/v1/pets'],
  ['a URL', new URL('http://a/v1/pets')],
])('fetch accepts %s', async (_, url) => {
  const { petStore, token } = await startApi()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const created = await petStore.fetch(url, { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' })
  expect(created.status).toBe(201)
})

test.each<[string, (init: RequestInit) => RequestInit | Request]>([
  ['an object', (init) => init],
  ['a Request', (init) => new Request('http://a', init)],
])('the back end gets the signal of the second argument of fetch: %s', async (_, toInit) => {
  const find = vi.fn<KeyStore['find']>(() => new Promise(() => {}))
  const client = new AbortController()
  const init = { signal: client.signal, headers: { authorization: 'Bearer a' } }
  void createPetStore({ keyStore: { find } }).fetch('http://a/v1/pets', toInit(init) as RequestInit)
  const signal = find.mock.calls[0]?.[1]?.signal
  expect(signal?.aborted).toBe(false)
  client.abort('left')
  expect([signal?.aborted, signal?.reason]).toEqual([true, 'left'])
})

test('fetch accepts a signal that the global Request rejects, as in jsdom', async () => {
  class Strict extends Request {
    constructor(input: string, init?: RequestInit) {
      if (init?.signal) throw new TypeError('a signal of another realm')
      super(input, init)
    }
  }
  vi.stubGlobal('Request', Strict)
  onTestFinished(() => void vi.unstubAllGlobals())
  const { signal } = new AbortController()
  expect((await createPetStore().fetch('http://a/v1/pets', { method: 'PUT', signal })).status).toBe(401)
})

test('buildRequest copies a Request only if there are other options', () => {
  const request = new Request('http://a')
  expect(buildRequest(request).request).toBe(request)
  expect(buildRequest(request, { method: 'PUT' }).request.method).toBe('PUT')
})

test('without a global Request, fetch says what to use in Jest', async () => {
  vi.stubGlobal('Request', undefined)
  onTestFinished(() => void vi.unstubAllGlobals())
  await expect(createPetStore().fetch('http://a/v1/pets')).rejects.toMatchObject({
    code: 'internal_error',
    message:
      'This environment has no Request and no Response: in Jest, use the environment jest-fixed-jsdom instead of jsdom.',
  })
})

test('links contain the basePath that Next.js passes in nextUrl', () => {
  const request = new Request('http://a/shop/v1/pets')
  expect(toApiRequest(Object.assign(request, { nextUrl: { basePath: '/shop' } })).mountPath).toBe('/shop')
  expect(toApiRequest(Object.assign(request, { nextUrl: { basePath: 7 } })).mountPath).toBeUndefined()
})

test('fetch ignores its second argument if the first is a Request', async () => {
  const { petStore, token } = await startApi()
  const request = new Request('http://a/v1/pets', { headers: { authorization: `Bearer ${token}` } })
  expect((await petStore.fetch(request, { method: 'DELETE' })).status).toBe(200)
})

test.each([
  ['100-continue', 200],
  ['100-Continue', 200],
  ['100-continue,100-continue', 200],
  [' , 100-continue ,\t', 200],
  ['', 200],
  ['tea', 417],
  ['100-continue, tea', 417],
  ['100-continue;q=1', 417],
])('a request with the Expect header %j gets status %i', async (expectation, status) => {
  const { send } = await startApi()
  const got = await send('/v1/pets', { headers: { expect: expectation } })
  expect([got.status, got.code]).toEqual([status, status === 417 ? 'expectation_failed' : undefined])
})

test.each(['*', 'http://shop.example/*'])('OPTIONS %s gets 204 with the methods of all paths', async (target) => {
  const { send } = await startApi()
  const got = await send(target, { method: 'OPTIONS' })
  expect([got.status, got.headers.get('allow'), got.text]).toEqual([204, allowOf('*'), ''])
})

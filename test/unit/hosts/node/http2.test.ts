import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, createServer, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { type ApiRequest, type ApiResponse, memory, type PetStore } from '../../../../src/index.ts'
import { within } from '../../../support/deadline.ts'
import { expectSilence, signalled, storeWithKey, type TestServerOptions } from '../../../support/node-server.ts'
import { rawConnection } from '../../../support/raw-http.ts'

beforeEach(expectSilence)

/** Starts an HTTP/2 server and opens a session. The returned `ask` sends a request. */
async function start(options: TestServerOptions = {}) {
  const { petStore, token } = await storeWithKey(options)
  const server = createServer(toNodeHandler(petStore)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const authorization = `Bearer ${token}`
  const ask = (headers: OutgoingHttpHeaders, body?: string) =>
    within(exchange(session, { authorization, ':path': '/v1/pets', ...headers }, body), 'response')
  return { session, ask, authorization }
}

async function exchange(session: ClientHttp2Session, headers: OutgoingHttpHeaders, body?: string) {
  const stream = session.request(headers, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  stream.on('error', () => {})
  const [answer] = (await once(stream, 'response')) as [Record<string, string | number>]
  let text = ''
  for await (const chunk of stream) text += chunk
  return { status: answer[':status'], headers: answer, body: text }
}

const [DATA, HEADERS, RST_STREAM, SETTINGS] = [0, 1, 3, 4]
const { NGHTTP2_FLAG_END_HEADERS: END_HEADERS } = constants

/** Returns an HTTP/2 frame (RFC 9113, section 4.1). */
function frame(type: number, flags: number, payload: Buffer, stream = 1): Buffer {
  const head = Buffer.of(0, 0, 0, type, flags, 0, 0, 0, stream)
  head.writeUIntBE(payload.length, 0, 3)
  return Buffer.concat([head, payload])
}

/** Encodes a text of fewer than 127 bytes as an HPACK string literal: its length, then the text (RFC 7541, section 5.2). */
function sized(text: string): Buffer {
  return Buffer.concat([Buffer.of(text.length), Buffer.from(text)])
}

const json = { ':method': 'POST', 'content-type': 'application/json' }

describe('HTTP/2', () => {
  test('serves concurrent HTTP/2 requests with rate-limit headers', async () => {
    const { ask } = await start()
    expect(await ask(json, '{"name":"Rex","categoryId":1}')).toMatchObject({ status: 201 })
    const all = await Promise.all(Array.from({ length: 50 }, () => ask({})))
    for (const answer of all) {
      expect(answer).toMatchObject({ status: 200, body: '[{"id":1,"name":"Rex","categoryId":1,"status":"available"}]' })
      expect(answer.headers['x-ratelimit-remaining']).toMatch(/^\d+$/)
    }
    expect(await ask({ ':method': 'HEAD' })).toMatchObject({ status: 200, body: '' })
    expect(await ask({ authorization: 'Bearer nobody' })).toMatchObject({ status: 401 })
    expect(await ask({ ':path': '/v1/pets/%zz' })).toMatchObject({ status: 404 })
    expect(await ask({ ':method': 'TRACE' })).toMatchObject({ status: 405 })
  })

  test('an HTTP/2 session survives 300 rejected uploads', async () => {
    const { ask, session, authorization } = await start()
    const refused = async () => {
      const stream = session.request({ ...json, ':path': '/v1/none', authorization }, { endStream: false }).resume()
      stream.end('x'.repeat(60_000))
      const [[{ ':status': status }]] = (await Promise.all([once(stream, 'response'), once(stream, 'close')])) as [
        [Record<string, unknown>],
        unknown,
      ]
      return status
    }
    for (let i = 0; i < 15; i++)
      expect(new Set(await Promise.all(Array.from({ length: 20 }, refused)))).toEqual(new Set([404]))
    expect(await ask({})).toMatchObject({ status: 200 })
  })

  test.each([
    [{}, 0],
    [{ expect: '100-continue' }, 1],
  ])('for a request with headers %j, the number of 100 Continue responses is %i', async (fields, times) => {
    const { session, authorization } = await start()
    const stream = session.request({ ...json, ':path': '/v1/pets', authorization, ...fields }, { endStream: false })
    let continues = 0
    stream.on('continue', () => continues++)
    stream.end('{"name":"Rex","categoryId":1}')
    const [headers] = (await within(once(stream, 'response'), 'response')) as [Record<string, unknown>]
    expect([headers[':status'], continues]).toEqual([201, times])
  })

  test('the stream closes without an error after a body over the limit', async () => {
    const { session, authorization } = await start({ store: { bodyLimit: 10 } })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    onTestFinished(() => void vi.useRealTimers())
    const stream = session.request({ ...json, ':path': '/v1/pets', authorization }, { endStream: false })
    stream.write('x'.repeat(11))
    await within(once(stream.resume(), 'end'), 'the response')
    const closed = within(once(stream, 'close'), 'the end of the stream')
    // The server may start its timer some event-loop turns after the client has received the response.
    for (let turn = 0; turn < 100 && !stream.closed; turn++) {
      vi.advanceTimersByTime(2_000)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await closed
    expect(stream.rstCode).toBe(constants.NGHTTP2_NO_ERROR)
  })

  test('sends a response larger than the flow-control window despite an unread request body', async () => {
    const { storage } = memory()
    const pet = { id: 1n, name: 'x'.repeat(1_000_000), categoryId: 1n, status: 'available' } as const
    const { session, authorization } = await start({ store: { storage: { ...storage, list: () => [pet] } } })
    const stream = session.request({ ':path': '/v1/pets', authorization }, { endStream: false })
    stream.write('unread')
    stream.on('error', () => {})
    let length = 0
    const whole = (async () => {
      for await (const chunk of stream) length += (chunk as Buffer).length
    })()
    await within(whole, 'the response')
    expect(length).toBeGreaterThan(1_000_000)
  })

  test.each(['stream', 'session'] as const)(
    'aborts the signal when the client closes its %s mid-upload',
    async (what) => {
      const seen = signalled<ApiRequest>()
      const settled = signalled<unknown>()
      const wrap = (petStore: PetStore): PetStore => ({
        ...petStore,
        handle: (request) => {
          seen.resolve(request)
          void request.signal
          const body = request.body.bind(request)
          request.body = (limit) => {
            const reading = body(limit)
            reading.then(settled.resolve, settled.resolve)
            return reading
          }
          return petStore.handle(request)
        },
      })
      const { session, authorization } = await start({ wrap })
      const stream = session.request({ ...json, ':path': '/v1/pets', authorization }, { endStream: false })
      stream.on('error', () => {})
      session.on('error', () => {})
      stream.write('{')
      const request = await within(seen.promise, 'the request')
      expect(request.signal?.aborted).toBe(false)
      if (what === 'stream') stream.close(constants.NGHTTP2_CANCEL)
      else session.destroy()
      const outcome = await within(settled.promise, 'the body')
      // Node's client ends the body before it resets a stream. Only a destroyed session leaves the body incomplete.
      if (what === 'session') expect(outcome).toMatchObject({ code: 'incomplete_body' })
      const aborted = new Promise<void>((resolve) => {
        if (request.signal?.aborted) resolve()
        request.signal?.addEventListener('abort', () => resolve())
      })
      await within(aborted, 'the signal')
    },
  )

  test.each([constants.NGHTTP2_CANCEL, constants.NGHTTP2_NO_ERROR])(
    'creates no animal if the client resets the stream with code %i',
    async (code) => {
      const { storage } = memory()
      const create = vi.fn(storage.create)
      const { petStore, token } = await storeWithKey({ store: { storage: { ...storage, create } } })
      const authorization = `Bearer ${token}`
      // This request fills the key cache. The next request then waits for no look-up: its body is read at once.
      await petStore.fetch(new Request('http://a/v1/pets', { headers: { authorization } }))
      const closed = signalled()
      const handler = toNodeHandler(petStore)
      const server = createServer((request, response) => {
        response.on('close', () => setImmediate(() => setImmediate(closed.resolve)))
        request.on('data', () => void send(frame(RST_STREAM, 0, Buffer.of(0, 0, 0, code))))
        handler(request, response)
      }).listen(0, '127.0.0.1')
      onTestFinished(() => void server.close())
      await once(server, 'listening')
      const { send, leave } = await rawConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
      onTestFinished(leave)
      const fields = { ':method': 'POST', ':scheme': 'http', ':path': '/v1/pets', ':authority': 'a' }
      const head = Object.entries({ ...fields, authorization, 'content-type': 'application/json' })
      const block = Buffer.concat(head.flatMap((field) => [Buffer.of(0), ...field.map(sized)]))
      await send('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
      await send(frame(SETTINGS, 0, Buffer.alloc(0), 0))
      await send(frame(HEADERS, END_HEADERS, block))
      await send(frame(DATA, 0, Buffer.from('{"name":"Rex","categoryId":1}')))
      await within(closed.promise, 'the end of the response')
      expect(create).not.toHaveBeenCalled()
    },
  )

  test('does not abort the signal when the session ends after the response', async () => {
    const closed = signalled()
    const requests: ApiRequest[] = []
    const { petStore, token } = await storeWithKey({ store: { bodyLimit: 10 } })
    const handle: PetStore['handle'] = (request) => {
      requests.push(request)
      void request.signal
      return petStore.handle(request)
    }
    const handler = toNodeHandler({ ...petStore, handle })
    const server = createServer((request, response) => {
      if (request.method === 'POST') response.on('close', () => setImmediate(closed.resolve))
      handler(request, response)
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await once(server, 'listening')
    const session = connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const headers = { ':path': '/v1/pets', authorization: `Bearer ${token}` }
    expect(await within(exchange(session, headers), 'response')).toMatchObject({ status: 200 })
    const refused = session.request({ ...json, ...headers }, { endStream: false })
    refused.write('x'.repeat(11))
    await within(once(refused.resume(), 'end'), 'response')
    session.destroy()
    await within(closed.promise, 'the end of the response')
    expect(requests.map(({ signal }) => signal?.aborted)).toEqual([false, false])
  })

  test.each(['stream', 'session'] as const)(
    'reports incomplete_body if the client closes its %s early',
    async (what) => {
      const seen = signalled()
      const answered = signalled<ApiResponse>()
      const wrap = (petStore: PetStore): PetStore => ({
        ...petStore,
        handle: async (request) => {
          seen.resolve()
          await new Promise((resolve) => request.signal?.addEventListener('abort', resolve))
          const answer = await petStore.handle(request)
          answered.resolve(answer)
          return answer
        },
      })
      const { session, authorization } = await start({ wrap })
      const stream = session.request({ ...json, ':path': '/v1/pets', authorization }, { endStream: false })
      stream.on('error', () => {})
      session.on('error', () => {})
      stream.write('{')
      await within(seen.promise, 'the request')
      if (what === 'stream') stream.close(constants.NGHTTP2_CANCEL)
      else session.destroy()
      const { status, body } = await within(answered.promise, 'the response')
      expect([status, JSON.parse(body).code]).toEqual([400, 'incomplete_body'])
    },
  )
})

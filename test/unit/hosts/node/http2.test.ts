import { once } from 'node:events'
import { type ClientHttp2Session, connect, constants, createServer, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { type ApiRequest, type ApiResponse, memory, type PetStore } from '../../../../src/index.ts'
import { within } from '../../../support/deadline.ts'
import { expectSilence, signalled, storeWithKey, type TestServerOptions } from '../../../support/node-server.ts'

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

  test.each(['stream', 'session'] as const)('aborts the signal if the client closes its %s', async (what) => {
    const seen = signalled<AbortSignal | undefined>()
    const list = (_query: unknown, context?: { signal?: AbortSignal | undefined }) => {
      seen.resolve(context?.signal)
      return new Promise<never>(() => {})
    }
    const { session, authorization } = await start({ store: { storage: { ...memory().storage, list } } })
    const stream = session.request({ ':path': '/v1/pets', authorization })
    stream.on('error', () => {})
    session.on('error', () => {})
    const signal = await within(seen.promise, 'the storage')
    expect(signal?.aborted).toBe(false)
    const aborted = new Promise((resolve) => signal?.addEventListener('abort', resolve))
    if (what === 'stream') stream.close(constants.NGHTTP2_CANCEL)
    else session.destroy()
    await within(aborted, 'the signal')
  })

  test('an upload fails with incomplete_body if the client closes its session', async () => {
    const seen = signalled()
    const answered = signalled<ApiResponse>()
    const wrap = (petStore: PetStore): PetStore => ({
      ...petStore,
      handle: async (request) => {
        const answering = petStore.handle(request)
        seen.resolve()
        answered.resolve(await answering)
        return answering
      },
    })
    const { session, authorization } = await start({ wrap })
    const stream = session.request({ ...json, ':path': '/v1/pets', authorization }, { endStream: false })
    stream.on('error', () => {})
    session.on('error', () => {})
    stream.write('{')
    await within(seen.promise, 'the request')
    session.destroy()
    expect(JSON.parse((await within(answered.promise, 'the response')).body)).toMatchObject({ code: 'incomplete_body' })
  })

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
})

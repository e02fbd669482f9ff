import { once } from 'node:events'
import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { connect, createServer as createServer2 } from 'node:http2'
import type { AddressInfo, Socket } from 'node:net'
import { PassThrough } from 'node:stream'

import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type NodeIncoming, toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { currentHeader } from '../../../../adapters/hosts/node/messages.ts'
import type { ApiRequest } from '../../../../src/index.ts'
import { within } from '../../../support/deadline.ts'
import { petBody, storeWithKey } from '../../../support/node-server.ts'
import { rawConnection } from '../../../support/raw-http.ts'

afterEach(() => vi.unstubAllGlobals())

const ANIMAL = '{"name":"Rex","categoryId":1}'

async function listening(server: { listen(port: number, host: string): unknown; close(): unknown }) {
  server.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server as never, 'listening')
  return `http://127.0.0.1:${((server as never as { address(): AddressInfo }).address() as AddressInfo).port}`
}

async function handlerWithKey() {
  const { petStore, token } = await storeWithKey()
  return { petStore, handler: toNodeHandler(petStore), token, authorization: `Bearer ${token}` }
}

test("calls the host's writeHead with the headers as an object", async () => {
  const { handler, authorization } = await handlerWithKey()
  class Stamped extends ServerResponse {
    override writeHead(status: number, headers?: unknown): this {
      return super.writeHead(status, { ...(headers as object), 'X-Own': '1' })
    }
  }
  const server = createServer({ ServerResponse: Stamped as never }, handler)
  const connection = await rawConnection(await listening(server))
  void connection.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
  const { status, headers, body } = await connection.answer()
  expect([status, body]).toEqual([200, '[]'])
  expect(headers).toMatchObject({ 'x-own': '1', 'content-type': 'application/json', 'x-ratelimit-limit': '1000000' })
  expect(Object.keys(headers)).not.toContain('0')
})

describe('headers that earlier middleware has changed', () => {
  const behind = async (change: (headers: IncomingMessage['headers'], authorization: string) => void, sent: string) => {
    const { handler, authorization } = await handlerWithKey()
    const server = createServer((request, response) => {
      change(request.headers, authorization)
      handler(request, response, () => response.end())
    })
    const connection = await rawConnection(await listening(server))
    void connection.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\n${sent.replaceAll('$', authorization)}\r\n`)
    return (await connection.answer()).status
  }

  test.each([
    ['a key that middleware has added', '', 200],
    ['a key that middleware has put instead of other credentials', 'Authorization: Basic abc\r\n', 200],
  ])('a request is authenticated with %s', async (_how, sent, status) => {
    const add = (headers: IncomingMessage['headers'], authorization: string) => {
      headers.authorization = authorization
    }
    expect(await behind(add, sent)).toBe(status)
  })

  test('a request gets 401 if middleware removes its key', async () => {
    const remove = (headers: IncomingMessage['headers']) => {
      headers.authorization = undefined
    }
    expect(await behind(remove, 'Authorization: $\r\n')).toBe(401)
  })

  test('the store gets the X-Forwarded-For that middleware has shortened', async () => {
    const { petStore, authorization } = await handlerWithKey()
    const seen: unknown[] = []
    const watched = { ...petStore, handle: (request: ApiRequest) => petStore.handle(watch(request)) }
    const watch = (request: ApiRequest) => {
      seen.push(request.header('x-forwarded-for'))
      return request
    }
    const server = createServer((request, response) => {
      request.headers['x-forwarded-for'] = '192.0.2.1'
      toNodeHandler(watched)(request, response, () => response.end())
    })
    const connection = await rawConnection(await listening(server))
    const forwarded = 'X-Forwarded-For: 192.0.2.1, 192.0.2.2\r\n'
    void connection.send(`GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n${forwarded}\r\n`)
    expect((await connection.answer()).status).toBe(200)
    expect(seen).toEqual(['192.0.2.1'])
  })

  test('a handler called without `next` reads the changed headers too', async () => {
    const { handler, authorization } = await handlerWithKey()
    const server = createServer((request, response) => {
      request.headers.authorization = authorization
      handler(request, response)
    })
    const connection = await rawConnection(await listening(server))
    void connection.send('GET /v1/pets HTTP/1.1\r\nHost: a\r\n\r\n')
    expect((await connection.answer()).status).toBe(200)
  })

  test.each<[string, string | undefined, string[] | undefined, NodeIncoming['headers']]>([
    ['sent once', 'a', ['X-A', 'a'], { 'x-a': 'a' }],
    ['sent twice, and joined in `headers`', 'a, b', ['X-A', 'a', 'x-a', 'b'], { 'x-a': 'a, b' }],
    ['sent twice, but once in `headers`', 'a, b', ['X-A', 'a', 'X-A', 'b'], { 'x-a': 'a' }],
    ['shortened to its beginning in `headers`', 'a', ['X-A', 'a, b'], { 'x-a': 'a' }],
    ['sent twice, and in `headers` the beginning of the first', 'a', ['X-A', 'aa', 'X-A', 'b'], { 'x-a': 'a' }],
    ['removed from `headers`', undefined, ['X-A', 'undefined', 'X-A', 'b'], {}],
    ['only in `headers`', 'a', [], { 'x-a': 'a' }],
    ['only in `headers`, as a list', 'a, b', [], { 'x-a': ['a', 'b'] }],
    ['only in `headers`, because the host has made no `rawHeaders`', 'a', undefined, { 'x-a': 'a' }],
    ['missing', undefined, [], undefined],
    ['missing, like `rawHeaders`', undefined, undefined, undefined],
  ])('if a header is %s, currentHeader returns %j', (_how, value, rawHeaders, headers) => {
    expect(currentHeader({ rawHeaders, headers }, 'x-a')).toBe(value)
  })

  test('two Authorization headers get 401 unless middleware has replaced them', async () => {
    expect(await behind(() => {}, 'Authorization: $\r\nAuthorization: $\r\n')).toBe(401)
    expect(await behind(() => {}, 'Authorization: $\r\nX-Note: $, $\r\nAuthorization: $\r\n')).toBe(401)
    expect(await behind(() => {}, 'Authorization: $\r\n')).toBe(200)
  })
})

describe('a host that listens to checkContinue', () => {
  test('in HTTP/1, sends 100 Continue if the host listens to checkContinue', async () => {
    const { handler, authorization } = await handlerWithKey()
    const url = await listening(createServer(handler).on('checkContinue', handler))
    const { socket, send, answer } = await rawConnection(url)
    const going = once(socket, 'data')
    const [head, body] = petBody(ANIMAL).split('\r\n\r\n') as [string, string]
    void send(
      `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\nExpect: 100-continue\r\n${head}\r\n\r\n`,
    )
    expect(String((await within(going, 'continue'))[0])).toMatch(/^HTTP\/1\.1 100 /)
    void send(body)
    expect((await answer()).status).toBe(100)
    expect((await answer()).status).toBe(201)
  })

  test('in HTTP/2, sends 100 Continue if the host listens to checkContinue', async () => {
    const { handler, authorization } = await handlerWithKey()
    const server = createServer2(handler)
    server.on('checkContinue', handler)
    const session = connect(await listening(server))
    onTestFinished(() => session.destroy())
    const stream = session.request(
      {
        ':method': 'POST',
        ':path': '/v1/pets',
        authorization,
        'content-type': 'application/json',
        expect: '100-continue',
      },
      { endStream: false },
    )
    await within(once(stream, 'continue'), 'continue')
    stream.on('continue', () => stream.destroy(new Error('twice')))
    stream.end(ANIMAL)
    const [headers] = (await within(once(stream, 'response'), 'response')) as [Record<string, unknown>]
    expect(headers[':status']).toBe(201)
  })
})

test.each([
  ['/shop', '/shop/v1'],
  ['/v1', '/v1'],
])('if a framework mounts at %s without setting baseUrl, links begin with %s', async (mount, base) => {
  const { handler, authorization } = await handlerWithKey()
  const server = createServer((request, response) => {
    const { url = '' } = request
    Object.assign(request, { originalUrl: url, url: url.slice(mount.length) || '/' })
    handler(request, response, () => response.writeHead(299).end())
  })
  const connection = await rawConnection(await listening(server))
  void connection.send(`GET ${base}/pets/1 HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n\r\n`)
  const { status, headers } = await connection.answer()
  expect([status, headers.link]).toEqual([404, `<${base}/pets>; rel="successor-version"`])
})

test('onResponse gets a target outside the base path unchanged', async () => {
  const targets: string[] = []
  const { petStore } = await storeWithKey({ store: { onResponse: ({ target }) => void targets.push(target) } })
  const connection = await rawConnection(await listening(createServer(toNodeHandler(petStore))))
  void connection.send('GET /elsewhere?a=1 HTTP/1.1\r\nHost: a\r\n\r\n')
  expect((await connection.answer()).status).toBe(401)
  expect(targets).toEqual(['/elsewhere?a=1'])
})

test('responds with 401 to an upload whose request object has no socket', async () => {
  const { handler } = await handlerWithKey()
  const request = new IncomingMessage(null as never)
  Object.assign(request, { method: 'POST', url: '/v1/pets', headers: { 'transfer-encoding': 'chunked' } })
  const response = new ServerResponse(request)
  const socket = new PassThrough()
  response.assignSocket(socket as never as Socket)
  handler(request, response)
  request.push(null)
  await once(response, 'finish')
  expect(String(socket.read())).toMatch(/^HTTP\/1\.1 401 /)
})

test("rejects invalid UTF-8 that the host's setEncoding has replaced", async () => {
  const { handler, authorization } = await handlerWithKey()
  const server = createServer((request, response) => {
    request.setEncoding('utf8')
    handler(request, response)
  })
  const { socket, answer } = await rawConnection(await listening(server))
  const body = Buffer.from('{"name":"\xff","categoryId":1}', 'latin1')
  const type = 'Content-Type: application/json\r\n'
  socket.write(
    `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: ${authorization}\r\n${type}Content-Length: ${body.length}\r\n\r\n`,
  )
  socket.write(body)
  const { status, body: text } = await answer()
  expect([status, JSON.parse(text).code]).toEqual([500, 'body_already_read'])
})

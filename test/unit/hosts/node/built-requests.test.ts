import { EventEmitter, once } from 'node:events'
import { createRequire } from 'node:module'
import { createRequest, createResponse, type RequestOptions } from 'node-mocks-http'
import serverless from 'serverless-http'
import { describe, expect, test } from 'vitest'
import { type NodeIncoming, type NodeOutgoing, toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { storeWithKey } from '../../../support/node-server.ts'

const REX = { name: 'Rex', categoryId: 7 }

async function given() {
  const faults: unknown[] = []
  const { petStore, token } = await storeWithKey({
    store: { onError: (error) => void faults.push(error) },
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return { handler: toNodeHandler(petStore), headers, faults }
}

describe('serverless-http leaves `rawHeaders` empty', () => {
  interface KoaApp {
    callback(): (...args: unknown[]) => unknown
    use(middleware: (context: KoaContext, next: () => Promise<void>) => unknown): void
  }
  type KoaContext = { readonly req: NodeIncoming & AsyncIterable<Buffer>; readonly res: NodeOutgoing; respond: boolean }
  const Koa = createRequire(import.meta.url)('koa') as new () => KoaApp

  /** Sends an event of AWS Lambda to a store in Koa. `prepare` is a middleware before the store. */
  async function ask(
    method: string,
    body?: string,
    prepare: Parameters<KoaApp['use']>[0] = (_context, next) => next(),
  ) {
    const { handler, headers } = await given()
    const app = new Koa()
    app.use(prepare)
    app.use((context) => {
      context.respond = false
      return handler(context.req, context.res)
    })
    const requestContext = { http: { method, path: '/v1/pets', sourceIp: '192.0.2.1' } }
    const event = { version: '2.0', rawPath: '/v1/pets', rawQueryString: '', headers, requestContext, body }
    return (await serverless(app)(event, {})) as { readonly statusCode: number; readonly body: string }
  }

  test('reads the key', async () => {
    expect(await ask('GET')).toMatchObject({ statusCode: 200, body: '[]' })
  })

  test('reads the exact body', async () => {
    const added = await ask('POST', '{"name":"Rex","categoryId":9007199254740993}')
    expect(added).toMatchObject({ statusCode: 201, body: expect.stringContaining(':9007199254740993,') })
  })

  test('takes the body from a parser that has read it', async () => {
    const added = await ask('POST', JSON.stringify(REX), async ({ req }, next) => {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk)
      Object.assign(req, { body: JSON.parse(Buffer.concat(chunks).toString()) })
      await next()
    })
    expect([added.statusCode, JSON.parse(added.body)]).toMatchObject([201, REX])
  })

  test('rejects a body over the limit with 413', async () => {
    expect((await ask('POST', ' '.repeat(100_000))).statusCode).toBe(413)
  })
})

describe('a request of node-mocks-http is no stream and has no `rawHeaders`', () => {
  async function ask(options: RequestOptions, sentBody?: string) {
    const { handler, headers, faults } = await given()
    const request = createRequest({ url: '/v1/pets', ...options, headers: { ...headers, ...options.headers } })
    const response = createResponse({ eventEmitter: EventEmitter })
    const ended = once(response, 'end')
    // `send` emits its events at once, so the test must wait until the store listens.
    request.on('newListener', (name) => {
      if (sentBody !== undefined && name === 'end') setImmediate(() => request.send(sentBody))
    })
    handler(request as unknown as NodeIncoming, response as unknown as NodeOutgoing)
    await ended
    expect(faults).toEqual([])
    return { status: response.statusCode, body: response._getJSONData(), link: response.getHeader('link') }
  }

  test('reads the key', async () => {
    expect(await ask({ method: 'GET' })).toMatchObject({ status: 200, body: [] })
    expect(await ask({ method: 'GET', headers: { authorization: 'Bearer x' } })).toMatchObject({ status: 401 })
  })

  test.each([
    ['without Content-Length', {}],
    ['with Content-Length', { 'content-length': '29' }],
  ])('takes the body that the mock has from the start, %s', async (_title, headers) => {
    expect(await ask({ method: 'POST', headers, body: REX })).toMatchObject({ status: 201, body: REX })
  })

  test('reads a body that the test sends as events', async () => {
    const added = await ask({ method: 'POST' }, JSON.stringify(REX))
    expect(added).toMatchObject({ status: 201, body: REX })
  })

  test('links do not repeat the path, although `baseUrl` is the whole path', async () => {
    const { link } = await ask({ method: 'GET', url: '/v1/pets/1' })
    expect(link).toBe('</v1/pets>; rel="successor-version"')
  })
})

import { createRequire } from 'node:module'
import serverless from 'serverless-http'
import { describe, expect, test } from 'vitest'
import { type NodeIncoming, type NodeOutgoing, toNodeHandler } from '../../../../adapters/hosts/node/index.ts'
import { storeWithKey } from '../../../support/node-server.ts'

const REX = { name: 'Rex', categoryId: 7 }

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
    const { petStore, token } = await storeWithKey()
    const handler = toNodeHandler(petStore)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
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

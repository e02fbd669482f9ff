import { once } from 'node:events'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { toNodeHandler } from '../../../adapters/hosts/node/index.ts'
import { createPetStore } from '../../../src/index.ts'

/** The part of a Koa context that the tests use. Koa has no types of its own. */
interface Context {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly request: { rawBody?: string }
  readonly status: number
  readonly originalUrl: string
  respond: boolean
}
type Middleware = (context: Context, next: () => Promise<void>) => unknown
interface KoaApp {
  use(middleware: Middleware): void
  listen(port: number, host: string): Server
}
const require = createRequire(import.meta.url)
const Koa = require('koa') as new () => KoaApp
const mount = require('koa-mount') as (prefix: string, middleware: Middleware) => Middleware

async function urlOf(app: KoaApp): Promise<string> {
  const server = app.listen(0, '127.0.0.1')
  onTestFinished(() => void server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Adds an animal behind other middleware, with the lines of docs/mounting.md. Returns the status and the text of the response. */
async function addBehind(...others: readonly Middleware[]) {
  const petStore = createPetStore()
  const { token } = await petStore.keys.issue({ plan: 'free' })
  const handler = toNodeHandler(petStore)
  const app = new Koa()
  for (const other of others) app.use(other)
  app.use((context) => {
    context.respond = false
    return handler(context.req, context.res)
  })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const body = '{"name":"Rex","categoryId":9007199254740993}'
  const response = await fetch(`${await urlOf(app)}/v1/pets`, { method: 'POST', headers, body })
  return { status: response.status, text: await response.text() }
}

test("Koa's middleware sees the status of the pet store's response", async () => {
  const logged: number[] = []
  await addBehind(async (context, next) => {
    await next()
    logged.push(context.status)
  })
  expect(logged).toEqual([201])
})

test.each(['/shop', '/v1'])(
  'the line for koa-mount in docs/mounting.md keeps the prefix %s in links',
  async (prefix) => {
    const petStore = createPetStore()
    const { token } = await petStore.keys.issue({ plan: 'free' })
    const handler = toNodeHandler(petStore)
    const app = new Koa()
    app.use(
      mount(prefix, (context) => {
        context.respond = false
        Object.assign(context.req, { originalUrl: context.originalUrl })
        return handler(context.req, context.res)
      }),
    )
    const path = prefix === '/v1' ? '/v1' : `${prefix}/v1`
    const response = await fetch(`${await urlOf(app)}${path}/pets/1`, { headers: { authorization: `Bearer ${token}` } })
    expect([response.status, response.headers.get('link')]).toEqual([404, `<${path}/pets>; rel="successor-version"`])
  },
)

import Fastify from 'fastify'
import { describe, expect, test, vi } from 'vitest'
import { toBunHandler } from '../../../adapters/hosts/bun.ts'
import { toDenoHandler } from '../../../adapters/hosts/deno.ts'
import { toExpressHandler } from '../../../adapters/hosts/express.ts'
import { toFastifyPlugin } from '../../../adapters/hosts/fastify.ts'
import { toFetchHandler } from '../../../adapters/hosts/fetch.ts'
import { serve, toNodeHandler } from '../../../adapters/hosts/node/index.ts'
import { createPetStore } from '../../../src/index.ts'

const hosts: Record<string, (petStore: never) => unknown> = {
  toNodeHandler,
  toExpressHandler,
  toBunHandler,
  toDenoHandler,
  toFetchHandler,
  serve: (petStore) => serve(petStore, { port: 0 }),
  toFastifyPlugin: (petStore) => toFastifyPlugin({ prefix: '' } as never, { petStore }),
}
const wrong = [
  undefined,
  null,
  createPetStore,
  { petStore: createPetStore() },
  { handle: () => {} },
  { basePath: '/v1' },
]

test.each(Object.keys(hosts))('%s rejects values that are not pet stores', async (name) => {
  for (const petStore of wrong) {
    await expect(async () => hosts[name]?.(petStore as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^option petStore: expected a store of createPetStore, .*, got /),
    })
  }
})

test('the Fastify plugin rejects a call that passes the store as the first argument', async () => {
  const plugin = toFastifyPlugin as (...args: unknown[]) => Promise<void>
  await expect(plugin(createPetStore())).rejects.toMatchObject({
    code: 'invalid_option',
    message: expect.stringMatching(/^option petStore: expected a store of createPetStore, .*, got nothing$/),
  })
})

describe('toNodeHandler in a framework with its own request objects', () => {
  const message = 'option response: expected a ServerResponse of Node as the second argument, got'

  test('toNodeHandler as Koa middleware throws an error about its second argument', () => {
    const [context, next] = [{ url: '/v1/pets' }, async () => {}]
    const handler = toNodeHandler(createPetStore()) as (...args: unknown[]) => void
    expect(() => handler(context, next)).toThrow(`${message} a function`)
  })

  test('Fastify responds with 500 if toNodeHandler is its route handler', async () => {
    const app = Fastify()
    app.all('/v1/*', toNodeHandler(createPetStore()) as never)
    const response = await app.inject('/v1/pets')
    expect([response.statusCode, response.json()]).toEqual([
      500,
      expect.objectContaining({ code: 'invalid_option', message: `${message} an object` }),
    ])
  })
})

test.each([
  [
    'toDenoHandler',
    toDenoHandler,
    'option info: expected the info that Deno.serve passes as the second argument, got nothing',
  ],
])('%s calls onError if its handler gets no second argument', async (_name, toHandler, message) => {
  const onError = vi.fn()
  const handler = toHandler(createPetStore({ onError })) as (request: Request) => Promise<Response>
  expect((await handler(new Request('http://localhost/v1/pets'))).status).toBe(500)
  expect(onError).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ message }), expect.anything())
})

test.each(Object.keys(hosts))('%s accepts an instance of a class as a store', async (name) => {
  class Shop {
    readonly #petStore = createPetStore()
    get basePath() {
      return this.#petStore.basePath
    }
    handle(request: never) {
      return this.#petStore.handle(request)
    }
  }
  const scope = { prefix: '', all: () => {} }
  const started =
    name === 'toFastifyPlugin'
      ? toFastifyPlugin(scope, { petStore: new Shop() as never })
      : hosts[name]?.(new Shop() as never)
  const server = (await started) as { close?(): Promise<void> } | undefined
  await server?.close?.()
})

import { expect, test } from 'vitest'
import { toBunHandler } from '../../adapters/bun.ts'
import { toDenoHandler } from '../../adapters/deno.ts'
import { toExpressHandler } from '../../adapters/express.ts'
import { petStorePlugin } from '../../adapters/fastify.ts'
import { serve, toNodeHandler } from '../../adapters/node.ts'
import { createPetStore } from '../../src/index.ts'

const doors: Record<string, (petStore: never) => unknown> = {
  toNodeHandler,
  toExpressHandler,
  toBunHandler,
  toDenoHandler,
  serve: (petStore) => serve(petStore, { port: 0 }),
  petStorePlugin: (petStore) => petStorePlugin({ prefix: '' } as never, { petStore }),
}
const wrong = [
  undefined,
  null,
  createPetStore,
  { petStore: createPetStore() },
  { handle: () => {} },
  { basePath: '/v1' },
]

test.each(Object.keys(doors))('%s refuses what is no pet store before anything is asked of it', async (name) => {
  for (const petStore of wrong) {
    await expect(async () => doors[name]?.(petStore as never)).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(/^option petStore: expected what createPetStore gives, .*, got /),
    })
  }
})

test.each(Object.keys(doors))('%s takes a store that is an instance of a class', async (name) => {
  class Shop {
    readonly #petStore = createPetStore()
    get basePath() {
      return this.#petStore.basePath
    }
    handle(request: never) {
      return this.#petStore.handle(request)
    }
  }
  const scope = { prefix: '', supportedMethods: [], route: () => {} }
  const started =
    name === 'petStorePlugin'
      ? petStorePlugin(scope, { petStore: new Shop() as never })
      : doors[name]?.(new Shop() as never)
  const server = (await started) as { close?(): Promise<void> } | undefined
  await server?.close?.()
})

import { server as createHapi } from '@hapi/hapi'
import { createPetStore, memory } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'

const { storage, quota } = memory()
const petStore = createPetStore({
  storage,
  quota,
  keyStore: {
    find: (token) => (token === process.env.PETSTORE_KEY ? { id: 'shop', plan: 'business' } : undefined),
  },
  cors: { origins: ['https://shop.example'] },
})
const handler = toNodeHandler(petStore, { trustProxy: 1 })

const server = createHapi({
  port: process.env.PORT ?? 3000,
  host: '127.0.0.1',
  // By default, hapi 21 responds to invalid HTTP a second time, after the store's response, and this ends the process.
  operations: { cleanStop: false },
})
// This runs before hapi chooses a route, so that HEAD, OPTIONS and unknown paths below /v1 reach the store too.
server.ext('onRequest', ({ path, raw }, h) => {
  if (path !== '/v1' && !path.startsWith('/v1/')) return h.continue
  handler(raw.req, raw.res)
  return h.abandon
})
server.route({
  method: 'GET',
  path: '/',
  handler: async () => `The shop itself has ${(await storage.list({ limit: 3 })).map(({ name }) => name)}`,
})
await server.start()
process.once('SIGTERM', () => void server.stop({ timeout: 10_000 }))

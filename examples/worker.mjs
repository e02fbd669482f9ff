// npx wrangler dev examples/worker.mjs
import { createPetStore, toApiRequest, toResponse } from 'petstore-kit'

// Workers cannot create random keys during startup, so this example has a fixed key. Keep real keys in a database.
const petStore = createPetStore({
  keyStore: { find: (token) => (token === 'demo-key' ? { id: 'demo', plan: 'free' } : undefined) },
})

/** @type {ExportedHandler} */
export default {
  async fetch(request) {
    // Cloudflare sets this header, and clients cannot. Requests without a valid key are counted by address.
    const address = request.headers.get('cf-connecting-ip')
    return toResponse(await petStore.handle(toApiRequest(request, address)))
  },
}

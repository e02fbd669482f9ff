// In this folder, after `npm install pg`: npx wrangler dev

import { createPetStore, toApiRequest, toResponse } from 'petstore-kit'
import { postgres } from 'petstore-kit/postgres'
import { Pool } from 'pg'

/** @type {ExportedHandler<{ HYPERDRIVE: Hyperdrive }>} */
export default {
  async fetch(request, env, context) {
    // A Worker may use a connection only in the request that has opened it, so each request has a pool and a store.
    const { connectionString } = env.HYPERDRIVE
    const pool = new Pool({ connectionString, max: 2, connectionTimeoutMillis: 8_000, query_timeout: 9_000 })
    // On Workers, a closed connection is an error too. A lost one fails its statement, and the store reports that.
    pool.on('error', () => {})
    const petStore = createPetStore({ ...postgres(pool) })
    try {
      // Cloudflare sets this header, so clients cannot choose it.
      const address = request.headers.get('cf-connecting-ip')
      return toResponse(await petStore.handle(toApiRequest(request, address)))
    } finally {
      context.waitUntil(pool.end())
    }
  },
}

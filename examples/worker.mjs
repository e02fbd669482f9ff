// npx wrangler dev examples/worker.mjs
import { createPetStore } from 'petstore-kit'

// Workers cannot create random keys during startup, so this example has a fixed key. Keep real keys in a database.
const keyStore = { find: (token) => (token === 'demo-key' ? { id: 'demo', plan: 'free' } : undefined) }

export default createPetStore({ keyStore })

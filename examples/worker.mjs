// npx wrangler dev examples/worker.mjs
import { createPetStore } from 'petstore-kit'

// Workers make no random keys while they start, so this one has keys of its own; real ones belong in a database.
const keyStore = { find: (token) => (token === 'demo-key' ? { id: 'demo', plan: 'free' } : undefined) }

export default createPetStore({ keyStore })

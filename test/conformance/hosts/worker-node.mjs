import { httpServerHandler } from 'cloudflare:node'
import { createServer } from 'node:http'
import { createPetStore, memory } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'

// Workers have Node's server as well: the door on Node must load where nothing may be timed yet.
const keyStore = { find: (token) => (token === 'letmein' ? { id: 'guest', plan: 'free' } : undefined) }
createServer(toNodeHandler(createPetStore({ ...memory(), keyStore }))).listen(8080)

export default httpServerHandler({ port: 8080 })

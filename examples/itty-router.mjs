// bun examples/itty-router.mjs
import { IttyRouter } from 'itty-router'
import { createPetStore } from 'petstore-kit'
import { toBunHandler } from 'petstore-kit/bun'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })

const router = IttyRouter()
// The router passes on the server that it gets from Bun.serve. The handler asks this server for the client's address.
router.all('/v1/*', toBunHandler(petStore))
router.get('/', () => new Response('The shop itself'))

const server = Bun.serve({ port: process.env.PORT ?? 3000, hostname: '127.0.0.1', fetch: router.fetch })
console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${server.port}/v1/pets`)

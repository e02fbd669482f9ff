// bun examples/itty-router.mjs
import { IttyRouter } from 'itty-router'
import { createPetStore, memory } from 'petstore-kit'
import { toBunHandler } from 'petstore-kit/bun'

const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const petStore = createPetStore(backEnd)

const router = IttyRouter()
// The router passes on the server that it gets from Bun.serve. The handler asks this server for the client's address.
router.all('/v1/*', toBunHandler(petStore))
router.get('/', () => new Response('The shop itself'))

const server = Bun.serve({ port: process.env.PORT ?? 3000, hostname: '127.0.0.1', fetch: router.fetch })
console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${server.port}/v1/pets`)

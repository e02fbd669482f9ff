// node examples/fastify.mjs
import Fastify from 'fastify'
import { createPetStore } from 'petstore-kit'
import { toFastifyPlugin } from 'petstore-kit/fastify'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })

const server = Fastify()
server.register(toFastifyPlugin, { petStore, prefix: '/shop' })
server.get('/', () => 'The shop itself')

const address = await server.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`curl -H 'Authorization: Bearer ${token}' ${address}/shop/v1/pets`)

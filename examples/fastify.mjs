// node examples/fastify.mjs
import Fastify from 'fastify'
import { createPetStore, memory } from 'petstore-kit'
import { toFastifyPlugin } from 'petstore-kit/fastify'

const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })

const server = Fastify()
server.register(toFastifyPlugin, { petStore: createPetStore(backEnd), prefix: '/shop' })
server.get('/', () => 'The shop itself')

const address = await server.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log(`curl -H 'Authorization: Bearer ${token}' ${address}/shop/v1/pets`)

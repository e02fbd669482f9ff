// bun examples/bun.mjs
import { createPetStore, memory } from 'petstore-kit'
import { toBunHandler } from 'petstore-kit/bun'

const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })

const server = Bun.serve({
  port: process.env.PORT ?? 3000,
  hostname: '127.0.0.1',
  routes: { '/': new Response('The shop itself') },
  fetch: toBunHandler(createPetStore(backEnd)),
})
console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${server.port}/v1/pets`)

// bun examples/bun.mjs
import { createPetStore } from 'petstore-kit'
import { toBunHandler } from 'petstore-kit/bun'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })

const server = Bun.serve({
  port: process.env.PORT ?? 3000,
  hostname: '127.0.0.1',
  routes: { '/': new Response('The shop itself') },
  fetch: toBunHandler(petStore),
})
console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${server.port}/v1/pets`)

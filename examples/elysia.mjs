// bun examples/elysia.mjs
import { Elysia } from 'elysia'
import { createPetStore } from 'petstore-kit'
import { toBunHandler } from 'petstore-kit/bun'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })
const handler = toBunHandler(petStore)

const app = new Elysia()
  // The handler reads the client's address from `server`. A `parse` that returns a value leaves the body to the store.
  .all('/v1/*', ({ request, server }) => handler(request, server), { parse: () => 1 })
  .get('/', () => 'The shop itself')

app.listen({ port: process.env.PORT ?? 3000, hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

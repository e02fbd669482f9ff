// deno run --allow-net=127.0.0.1:3000 --allow-env=PORT examples/deno.mjs
import { createPetStore } from 'petstore-kit'
import { toDenoHandler } from 'petstore-kit/deno'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })

Deno.serve(
  {
    port: Number(Deno.env.get('PORT') ?? 3000),
    hostname: '127.0.0.1',
    onListen: ({ port }) => console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`),
  },
  toDenoHandler(petStore),
)

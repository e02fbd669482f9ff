// node examples/hono.mjs
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { createPetStore } from 'petstore-kit'
import { toFetchHandler } from 'petstore-kit/fetch'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })
const handler = toFetchHandler(petStore)

const app = new Hono()
// `app.request()`, Hono's way to test, has no connection.
app.all('/v1/*', (c) => handler(c.req.raw, 'incoming' in Object(c.env) ? getConnInfo(c).remote.address : null))
app.get('/', (c) => c.text('The shop itself'))

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

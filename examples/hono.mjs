// node examples/hono.mjs
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { createPetStore, memory, toApiRequest, toResponse } from 'petstore-kit'

const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const petStore = createPetStore(backEnd)

const app = new Hono()
app.all('/v1/*', async (c) => {
  const request = toApiRequest(c.req.raw, getConnInfo(c).remote.address)
  return toResponse(await petStore.handle(request))
})
app.get('/', (c) => c.text('The shop itself'))

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

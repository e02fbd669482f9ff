// node examples/own-route.mjs
// Routes of the shop itself are under the keys and limits of the API. They check their input by the rules of the pet store.
import { serve } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { Hono } from 'hono'
import { createPetStore } from 'petstore-kit'
import { parseJson, stringifyJson } from 'petstore-kit/client'
import { toFetchHandler } from 'petstore-kit/fetch'
import { honoGuard } from 'petstore-kit/hono'
import { newPetSchema, petQuerySchema } from 'petstore-kit/schemas'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free', account: 'acme' })
const handler = toFetchHandler(petStore)

/** @type {Hono<{ Variables: import('petstore-kit/hono').ApiKeyVariables }>} */
const app = new Hono()
app.all('/v1/*', (c) => handler(c.req.raw, getConnInfo(c).remote.address))

const guard = honoGuard(petStore, { getConnInfo })
app.get('/orders', guard, (c) => c.json({ account: c.get('apiKey').account, orders: [] }))

app.get('/names', guard, async (c) => {
  const result = await petQuerySchema['~standard'].validate(c.req.query())
  if (result.issues) return c.json({ problems: result.issues.map(({ message }) => message) }, 400)
  const pets = await petStore.pets.list(result.value)
  return c.json(pets.map(({ name }) => name))
})

// A key that may only read gets 403 here, because the method is POST.
app.post('/import', guard, async (c) => {
  // `parseJson` reads each integer as a `bigint`, as the schemas state it. `c.req.json()` would round large ids.
  const animals = [parseJson(await c.req.text())].flat()
  const problems = []
  const pets = []
  for (const [index, animal] of animals.entries()) {
    const result = await newPetSchema['~standard'].validate(animal)
    if (!result.issues) pets.push(result.value)
    else
      for (const { path = [], message } of result.issues)
        problems.push(`animal ${index + 1}, ${path.join('.')}: ${message}`)
  }
  if (problems.length > 0) return c.json({ problems }, 400)
  return c.body(stringifyJson(await petStore.pets.addAll(pets)), 201, { 'Content-Type': 'application/json' })
})

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

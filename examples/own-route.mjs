// IMPORT_SECRET=choose-a-long-one node examples/own-route.mjs
// A route of the shop itself checks its input with the rules of the pet store, and adds several animals at once.
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'
import { createPetStore } from 'petstore-kit'
import { parseJson, stringifyJson } from 'petstore-kit/client'
import { toFetchHandler } from 'petstore-kit/fetch'
import { newPetSchema, petQuerySchema } from 'petstore-kit/schemas'

const secret = process.env.IMPORT_SECRET
if (!secret) throw new Error('Set IMPORT_SECRET to the secret of those who may import animals.')

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })
const handler = toFetchHandler(petStore)
const json = (c, value, status) => c.body(stringifyJson(value), status, { 'Content-Type': 'application/json' })

const app = new Hono()
app.all('/v1/*', (c) => handler(c.req.raw, null))

// The calls of `petStore.pets` need no API key, so the route itself asks for a secret.
app.post('/import', bearerAuth({ token: secret }), async (c) => {
  // `parseJson` reads each integer as a `bigint`, as the schemas state it. `c.req.json()` would round large ids.
  const animals = [parseJson(await c.req.text())].flat()
  const results = await Promise.all(animals.map((animal) => newPetSchema['~standard'].validate(animal)))
  const problems = results.flatMap(({ issues = [] }, index) =>
    issues.map(({ path = [], message }) => `animal ${index + 1}, ${path.join('.')}: ${message}`),
  )
  if (problems.length > 0) return json(c, { problems }, 400)
  return json(c, await petStore.pets.addAll(results.map(({ value }) => value)), 201)
})

app.get('/names', async (c) => {
  const { value, issues } = await petQuerySchema['~standard'].validate(c.req.query())
  if (issues) return json(c, { problems: issues.map(({ message }) => message) }, 400)
  const pets = await petStore.pets.list(value)
  return c.json(pets.map(({ name }) => name))
})

serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

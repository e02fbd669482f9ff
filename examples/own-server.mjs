// node examples/own-server.mjs
import { createServer } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { createPetStore } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'

const petStore = createPetStore() // or sqlite(…), postgres(…)
const { token } = await petStore.keys.issue({ plan: 'free' })

const handler = toNodeHandler(petStore)
let isClosing = false

const server = createServer(async (request, response) => {
  if (isClosing) response.setHeader('Connection', 'close')
  if (request.url !== '/ready') return handler(request, response)
  const { ok, failing } = await petStore.ready()
  response.writeHead(ok && !isClosing ? 200 : 503).end(JSON.stringify({ failing, isClosing }))
})
server.keepAliveTimeout = 65_000 // longer than the load balancer keeps idle connections

process.once('SIGTERM', async () => {
  isClosing = true
  await wait(Number(process.env.DRAIN_DELAY ?? 5_000)) // longer than the load balancer needs to see that /ready fails
  server.close(() => console.log('closed')) // in this callback, all requests have ended: close the database here
})

const port = Number(process.env.PORT ?? 3000)
server.listen(port, '127.0.0.1', () => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

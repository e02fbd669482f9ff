// node examples/h3.mjs
import { getRequestIP, H3, serve } from 'h3'
import { createPetStore } from 'petstore-kit'
import { toFetchHandler } from 'petstore-kit/fetch'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })
const handler = toFetchHandler(petStore)

const app = new H3()
app.all('/v1/**', (event) => handler(event.req, getRequestIP(event)))
app.get('/', () => 'The shop itself')

const port = Number(process.env.PORT ?? 3000)
const server = serve(app, { port, hostname: '127.0.0.1', silent: true })
await server.ready()
console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)

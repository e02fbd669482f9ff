// node examples/koa.mjs
import Koa from 'koa'
import { createPetStore } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })
const handler = toNodeHandler(petStore)

const app = new Koa()
app.use((context, next) => {
  if (!context.path.startsWith(`${petStore.basePath}/`)) return next()
  context.respond = false
  return handler(context.req, context.res)
})
app.use((context) => {
  context.body = 'The shop itself'
})

const port = Number(process.env.PORT ?? 3000)
app.listen(port, '127.0.0.1', () => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

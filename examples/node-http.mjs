// node examples/node-http.mjs
import { createServer } from 'node:http'
import { createPetStore } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'

const petStore = createPetStore()
const { token } = await petStore.keys.issue({ plan: 'free' })

const server = createServer(toNodeHandler(petStore))

const port = Number(process.env.PORT ?? 3000)
server.listen(port, '127.0.0.1', () => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

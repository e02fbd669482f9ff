// node examples/node-http.mjs
import { createServer } from 'node:http'
import { createPetStore, memory } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'

const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })

const server = createServer(toNodeHandler(createPetStore(backEnd)))

server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  const { port } = server.address()
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

// node examples/node-http.mjs
import { createServer } from 'node:http'
import { createPetStore, memory } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'

const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })

const server = createServer(toNodeHandler(createPetStore(backEnd)))

const port = Number(process.env.PORT ?? 3000)
server.listen(port, '127.0.0.1', () => {
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

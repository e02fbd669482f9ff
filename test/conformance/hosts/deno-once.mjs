import { createPetStore, memory } from 'petstore-kit'
import { toDenoHandler } from 'petstore-kit/deno'

const backEnd = memory()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })
const server = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, toDenoHandler(createPetStore(backEnd)))
const response = await fetch(`http://127.0.0.1:${server.addr.port}/v1/pets`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: '{"name":"Rex","categoryId":1}',
})
console.log(response.status, await response.text())
await server.shutdown()

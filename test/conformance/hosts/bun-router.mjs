import { AutoRouter } from 'itty-router'
import { toBunHandler } from 'petstore-kit/bun'
import { createTestPetStore } from 'petstore-kit/testing'

// itty-router passes a JavaScript Proxy instead of the Request, and Bun's `requestIP` throws for a Proxy.
const { token, ...petStore } = await createTestPetStore()
const router = AutoRouter()
router.all('/v1/*', toBunHandler(petStore))
const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: router.fetch })
const ask = async (name, authorization, init) => {
  const headers = { authorization, 'content-type': 'application/json' }
  const response = await fetch(new URL('/v1/pets', server.url), { headers, ...init })
  console.log(`${name}: ${response.status}`)
}
await ask('a good key', `Bearer ${token}`)
await ask('a wrong key', 'Bearer wrong')
await ask('a new pet', `Bearer ${token}`, { method: 'POST', body: '{"name":"Rex","categoryId":1}' })
await server.stop(true)

// UPSTASH_URL=https://… UPSTASH_TOKEN=… node examples/upstash.mjs
import { createServer } from 'node:http'
import { createPetStore, memory } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'
import { redis } from 'petstore-kit/redis'

const command = async (...words) => {
  const response = await fetch(process.env.UPSTASH_URL, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.UPSTASH_TOKEN}` },
    body: JSON.stringify(words),
  })
  const { result, error } = await response.json()
  if (error) throw new Error(error)
  return result
}

const petStore = createPetStore({ ...memory(), ...redis(command) })
const { token } = await petStore.keys.issue({ plan: 'free' })

const server = createServer(toNodeHandler(petStore))

server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  const { port } = server.address()
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

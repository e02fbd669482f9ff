// TURSO_URL=https://… TURSO_TOKEN=… node examples/turso/server.mjs
import { createServer } from 'node:http'
import { createClient } from '@libsql/client'
import { createPetStore } from 'petstore-kit'
import { d1 } from 'petstore-kit/d1'
import { toNodeHandler } from 'petstore-kit/node'
import { databaseOf } from './database.mjs'

const client = createClient({ url: process.env.TURSO_URL, authToken: process.env.TURSO_TOKEN })
const backEnd = d1(databaseOf(client))
await backEnd.migrate()
const petStore = createPetStore({ ...backEnd })
// The token is shown only at the first start. Later, put it instead of <API_KEY>.
const keys = await petStore.keys.list({ limit: 1 })
const token = keys.length === 0 ? (await petStore.keys.issue({ plan: 'free' })).token : '<API_KEY>'

const server = createServer(toNodeHandler(petStore))

server.listen(process.env.PORT ?? 3000, '127.0.0.1', () => {
  const { port } = server.address()
  console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`)
})

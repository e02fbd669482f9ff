// npm install petstore-kit pg lru-cache
// DATABASE_URL=postgres://… node examples/catalogues/server.mjs
import { createPetStore } from 'petstore-kit'
import { serve } from 'petstore-kit/node'
import { Pool } from 'pg'
import { catalogues } from './back-end.mjs'

const pool = new Pool({ connectionString: process.env.DATABASE_URL, statement_timeout: 8_000, query_timeout: 9_000 })
pool.on('error', console.error)
const backEnd = catalogues(pool)
await backEnd.migrate()
const petStore = createPetStore({ ...backEnd })

/** The animals of an account, for the host. `petStore.pets` are those of the host itself, which no client sees. */
async function petsOf(account) {
  const storage = await backEnd.catalogueOf(`account:${account}`)
  return createPetStore({ ...backEnd, storage }).pets
}
const pets = await petsOf('acme')
await pets.add({ name: 'Rex', categoryId: 1 }, { once: 'the first animal' })

const { url } = await serve(petStore, { port: Number(process.env.PORT ?? 3000) })
for (const account of ['acme', 'zoo']) {
  const { token } = await petStore.keys.issue({ plan: 'free', account })
  console.log(`The animals of ${account}:`)
  console.log(`curl -H 'Authorization: Bearer ${token}' ${url}/v1/pets`)
}

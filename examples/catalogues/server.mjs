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

// The host adds animals to the catalogue of an account. `petStore.pets` is the host's own, which no client sees.
const { pets } = createPetStore({ ...backEnd, storage: await backEnd.catalogueOf('account:acme') })
await pets.add({ name: 'Rex', categoryId: 1 }, { once: 'the first animal' })

const { url } = await serve(petStore, { port: Number(process.env.PORT ?? 3000) })
for (const account of ['acme', 'zoo']) {
  const { token } = await backEnd.keyStore.issue({ plan: 'free', account })
  console.log(`The animals of ${account}:`)
  console.log(`curl -H 'Authorization: Bearer ${token}' ${url}/v1/pets`)
}

// For Deno Deploy. With a local PostgreSQL, set DATABASE_URL, for example to postgres://shop@127.0.0.1:5432/shop, and run:
// deno run --allow-net=0.0.0.0:3000,127.0.0.1:5432 --allow-env='DATABASE_URL,PORT,PG*,NODE_PG*,USER*' examples/deno-postgres.mjs
import pg from 'npm:pg@8'
import { createPetStore } from 'petstore-kit'
import { toDenoHandler } from 'petstore-kit/deno'
import { postgres } from 'petstore-kit/postgres'

const pool = new pg.Pool({
  connectionString: Deno.env.get('DATABASE_URL'),
  connectionTimeoutMillis: 8_000,
  statement_timeout: 8_000,
  query_timeout: 9_000,
})
pool.on('error', ({ message }) => console.error(message))
const backEnd = postgres(pool)
await backEnd.migrate()
const petStore = createPetStore({ ...backEnd })
// A token is shown only once, so only the first start prints it. Later starts use the same key.
const keys = await petStore.keys.list({ limit: 1 })
const token = keys.length === 0 ? (await petStore.keys.issue({ plan: 'free' })).token : '<API_KEY>'

Deno.serve(
  {
    port: Number(Deno.env.get('PORT') ?? 3000),
    onListen: ({ port }) => console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`),
  },
  toDenoHandler(petStore),
)

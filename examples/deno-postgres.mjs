// On Deno Deploy, or: DATABASE_URL=postgres://… deno run --allow-net --allow-env examples/deno-postgres.mjs
import pg from 'npm:pg@8'
import { createPetStore } from 'petstore-kit'
import { toDenoHandler } from 'petstore-kit/deno'
import { postgres } from 'petstore-kit/postgres'

const pool = new pg.Pool({ connectionString: Deno.env.get('DATABASE_URL'), connectionTimeoutMillis: 2_000 })
pool.on('error', ({ message }) => console.error(message))
const backEnd = postgres(pool)
await backEnd.migrate()
const { token } = await backEnd.keyStore.issue({ plan: 'free' })

Deno.serve(
  {
    port: Number(Deno.env.get('PORT') ?? 3000),
    onListen: ({ port }) => console.log(`curl -H 'Authorization: Bearer ${token}' http://127.0.0.1:${port}/v1/pets`),
  },
  toDenoHandler(createPetStore({ ...backEnd })),
)

import { createServer } from 'node:http'
import { createPetStore, memory } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'
import { postgres } from 'petstore-kit/postgres'
import { Pool } from 'pg'
import { fill, LIMITS, listening, writeResponse } from '../fixtures.mjs'

const schema = `bench_${process.pid}`
const pool = new Pool({ connectionString: process.env.DATABASE_URL })
const backEnd = postgres(pool, { schema })
await backEnd.migrate()
await fill(backEnd.storage)
const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits: LIMITS })

/** Reads the page that the store also reads, but with the PostgreSQL driver only, for comparison. */
const text = `SELECT p.id::text, p.name, p.category_id::text, p.status
FROM ${schema}.pets AS p WHERE p.id >= $1 ORDER BY p.id LIMIT $2`
const bare = async (_req, res) => {
  const { rows } = await pool.query(text, [0, 21])
  const pets = rows.slice(0, 20).map(({ id, name, category_id, status }) => ({
    id: Number(id),
    name,
    categoryId: Number(category_id),
    status,
  }))
  writeResponse(res, 200, JSON.stringify(pets))
}

/** The store under test, with animals and keys in PostgreSQL. Counts are in memory, because a count needs a second statement. */
const kit = toNodeHandler(createPetStore({ ...backEnd, quota: memory().quota }))
const dropSchema = () => pool.query(`DROP SCHEMA ${schema} CASCADE`)
listening(createServer(process.argv[2] === 'bare' ? bare : kit), token, dropSchema)

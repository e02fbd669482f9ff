import { createServer } from 'node:http'
import { createPetStore } from 'petstore-kit'
import { toNodeHandler } from 'petstore-kit/node'
import { postgres } from 'petstore-kit/postgres'
import { Pool } from 'pg'
import { created, createdText, LIMITS, listening, writeResponse } from '../fixtures.mjs'

const [mode, schema, delay] = process.argv.slice(2)
// Each commit waits this many microseconds before PostgreSQL writes it to disk, even if no other transaction runs.
const options = `-c commit_delay=${delay} -c commit_siblings=0`
const pool = new Pool({ connectionString: process.env.DATABASE_URL, options })
const backEnd = postgres(pool, { schema })
await backEnd.migrate()
const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits: LIMITS })

/** The SQL of a single insert by the driver only, without keys and counts. */
const text = `INSERT INTO ${schema}.bare_pets (id, name, category_id, status)
VALUES (nextval('${schema}.pet_ids'), $1, $2, $3) RETURNING id::text`
const bare = async (req, res) => {
  for await (const _ of req);
  const { rows } = await pool.query(text, [created.name, created.categoryId, created.status])
  writeResponse(res, 201, createdText(rows[0].id - 1))
}

const kit = toNodeHandler(createPetStore(backEnd))
listening(createServer(mode === 'bare' ? bare : kit), token)

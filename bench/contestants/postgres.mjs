import { openPool } from '../support/pool.mjs'
import { created, filledStore, importKit, PETS } from './fixtures.mjs'
import { serveKitOrDriver } from './kit-or-driver.mjs'

// With REDIS_URL, counts requests in Redis. With PARALLEL_CREATES, adds animals without turns.
// Arguments: kit or driver; the delay of each commit in microseconds, to imitate a slow disk; a schema for several processes.
const [, delay = '0', shared] = process.argv.slice(2)
const schema = shared ?? `bench_${process.pid}`
const { memory } = await importKit()
const { postgres } = await importKit('postgres')
const options = `-c commit_delay=${delay} -c commit_siblings=0`
const pool = openPool({ connectionString: process.env.DATABASE_URL, options })
const parallelCreates = process.env.PARALLEL_CREATES ? { parallelCreates: true } : {}
const backEnd = postgres(pool, { schema, ...parallelCreates })
await backEnd.migrate()
const counts = process.env.REDIS_URL ? await countsInRedis(process.env.REDIS_URL) : {}
// A single process counts requests in memory: it is compared with the bare driver, which counts nothing in PostgreSQL.
const { petStore, tokens } = await (shared
  ? filledStore({ ...backEnd, ...counts }, 0)
  : filledStore({ ...backEnd, quota: memory().quota }, PETS))
// A table of its own, so that plain inserts do not share pages and locks with ours.
await pool.query(`CREATE TABLE IF NOT EXISTS ${schema}.bare_pets (LIKE ${schema}.pets INCLUDING ALL)`)

const columns = 'id::text, name, category_id::text, status'
const page = `SELECT ${columns} FROM ${schema}.pets WHERE id > $1 ORDER BY id LIMIT $2`
const add = `INSERT INTO ${schema}.bare_pets (id, name, category_id, status)
VALUES (nextval('${schema}.pet_ids'), $1, $2, $3) RETURNING ${columns}`
const petOf = ({ id, name, category_id, status }) => ({ id: Number(id), name, categoryId: Number(category_id), status })
const driver = {
  list: async () => (await pool.query(page, [0, 21])).rows.slice(0, 20).map(petOf),
  create: async ({ name, categoryId, status }) => petOf((await pool.query(add, [name, categoryId, status])).rows[0]),
}

// Measures how many animals our storage or the driver adds per second, without HTTP, and sends back this number.
const { create } = process.argv[2] === 'driver' ? driver : backEnd.storage
const given = { ...created, categoryId: BigInt(created.categoryId) }
process.on('message', async ({ concurrency, duration }) => {
  const startedAt = performance.now()
  let count = 0
  const client = async () => {
    for (; performance.now() < startedAt + duration; count++) await create(given)
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  process.send((count * 1_000) / (performance.now() - startedAt))
})

async function countsInRedis(url) {
  const { Redis } = await import('ioredis')
  const { redis } = await importKit('redis')
  return redis(new Redis(url))
}

const dropSchema = () => shared ?? pool.query(`DROP SCHEMA ${schema} CASCADE`)
await serveKitOrDriver(petStore, tokens, driver, dropSchema)

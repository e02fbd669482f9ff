import { Pool } from 'pg'
import { filledStore, importKit, PETS } from './fixtures.mjs'
import { serveKitOrDriver } from './kit-or-driver.mjs'

// Arguments: kit or driver; the delay of each commit in microseconds, to imitate a slow disk; a schema for several processes.
const [, delay = '0', shared] = process.argv.slice(2)
const schema = shared ?? `bench_${process.pid}`
const { memory } = await importKit()
const { postgres } = await importKit('postgres')
const options = `-c commit_delay=${delay} -c commit_siblings=0`
const pool = new Pool({ connectionString: process.env.DATABASE_URL, options })
// `end()` resolves before the connections are closed. If the server stops at that moment, they emit an error.
pool.on('error', () => {})
const backEnd = postgres(pool, { schema })
await backEnd.migrate()
// Requests are counted in memory: the bare driver, which is the comparison, counts nothing.
const { petStore, tokens } = await filledStore({ ...backEnd, quota: memory().quota }, shared ? 0 : PETS)
// A table of its own, so that plain inserts do not share pages and locks with ours.
await pool.query(`CREATE TABLE IF NOT EXISTS ${schema}.bare_pets (
id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, name text NOT NULL, category_id bigint NOT NULL, status text)`)

const columns = 'id::text, name, category_id::text, status'
const page = `SELECT ${columns} FROM ${schema}.pets WHERE id > $1 ORDER BY id LIMIT $2`
const add = `INSERT INTO ${schema}.bare_pets (name, category_id, status) VALUES ($1, $2, $3) RETURNING ${columns}`
const petOf = ({ id, name, category_id, status }) => ({ id: Number(id), name, categoryId: Number(category_id), status })
const driver = {
  list: async () => (await pool.query(page, [0, 21])).rows.slice(0, 20).map(petOf),
  create: async ({ name, categoryId, status }) => petOf((await pool.query(add, [name, categoryId, status])).rows[0]),
}
const cleanUp = () => shared ?? pool.query(`DROP SCHEMA ${schema} CASCADE`)
await serveKitOrDriver({ petStore, tokens, storage: backEnd.storage, driver, cleanUp })

/** Runs the contract suites in Bun, with Bun's own PostgreSQL and Redis clients. Prints one line for each failed test. */
import { RedisClient, SQL } from 'bun'
import { postgres } from '../../adapters/back-ends/postgres/index.ts'
import { redis } from '../../adapters/back-ends/redis/index.ts'
import { keyStoreContract, quotaContract, storageContract } from '../../src/testing/index.ts'

const { POSTGRES_URL, REDIS_URL } = process.env
const tests = []
const runner = { describe: (_name, body) => body(), test: (name, body) => tests.push([name, body]) }
const close = async () => {}
const runs = 6

if (POSTGRES_URL) {
  const sql = new SQL(POSTGRES_URL)
  const client = { query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }
  await postgres(client).migrate()
  const open = async (port, clock) => {
    await sql.unsafe('TRUNCATE petstore.pets, petstore.used_keys, petstore.keys, petstore.quota')
    return { port: postgres(client, { clock })[port], close }
  }
  storageContract(runner, { name: 'Bun.sql', runs, open: (clock) => open('storage', clock) })
  keyStoreContract(runner, { name: 'Bun.sql', runs, open: (clock) => open('keyStore', clock) })
  quotaContract(runner, { name: 'Bun.sql', runs, open: (clock) => open('quota', clock) })
}
if (REDIS_URL) {
  const client = new RedisClient(REDIS_URL)
  const open = async (clock) => {
    await client.send('FLUSHALL', [])
    return { port: redis(client, { clock }).quota, close }
  }
  quotaContract(runner, { name: "Bun's Redis client", runs, open })
}

for (const [name, body] of tests) await body().catch((error) => console.log(`${name}: ${error.message}`, error.cause))
console.log(`${tests.length} tests were run`)
process.exit()

import { postgres } from 'petstore-kit/postgres'
import { Pool } from 'pg'
import { median, ratesByTurns, shuffled } from './compare.mjs'
import { LIMITS } from './fixtures.mjs'
import { load, requestText } from './load.mjs'
import { withServers } from './processes.mjs'

const CONNECTIONS = 128
const ROUNDS = 5
/** How many requests each server gets before the first round, so that its code is compiled. */
const WARM_UP = 3_000
const SCHEMA = `bench_writes_${process.pid}`

/**
 * Measures writes to PostgreSQL with slow commits. Compares creates through the whole API with inserts by the driver only, from
 * one process and from four. Compares counts of one key with upserts. `DATABASE_URL` needs a superuser, who may delay commits.
 */
export async function benchWrites() {
  if (!process.env.DATABASE_URL)
    return console.log('\nSkipped: writes to PostgreSQL, which DATABASE_URL does not name.')
  const pool = new Pool({ connectionString: process.env.DATABASE_URL })
  try {
    await postgres(pool, { schema: SCHEMA }).migrate()
    // This copy of the table of animals has no trigger, which would slow down the bare inserts.
    await pool.query(`CREATE TABLE ${SCHEMA}.bare_pets (LIKE ${SCHEMA}.pets INCLUDING ALL)`)
    for (const processes of [1, 4]) for (const delay of [0, 5, 20]) await benchCreates(processes, delay)
    await benchCounts()
  } finally {
    await pool.query(`DROP SCHEMA ${SCHEMA} CASCADE`)
    await pool.end()
  }
}

async function benchCreates(processes, delay) {
  const args = (mode) => [mode, SCHEMA, String(delay * 1000)]
  const servers = ['bare', 'kit'].flatMap((name) =>
    Array.from({ length: processes }, () => ({ name, file: 'postgres-writes', args: args(name), isPinned: false })),
  )
  const rates = await withServers(servers, async (running) => {
    const bare = running.filter(({ name }) => name === 'bare')
    const kit = running.filter(({ name }) => name === 'kit')
    const contestants = { bare, kit, ...(processes > 1 && { 'kit with one key': withOneKey(kit) }) }
    const rates = Object.fromEntries(Object.keys(contestants).map((name) => [name, []]))
    for (const name of Object.keys(rates)) await createRate(contestants[name], WARM_UP)
    for (let round = 0; round < ROUNDS; round++)
      for (const name of shuffled(Object.keys(rates))) rates[name].push(await createRate(contestants[name], 1_000))
    return rates
  })
  const bare = median(rates.bare)
  const results = Object.entries(rates).map(([name, ofName]) => {
    const rate = median(ofName)
    return `${name} ${rate.toFixed(0)}/s${name === 'bare' ? '' : ` (${(rate / bare).toFixed(2)})`}`
  })
  const title = `creates, ${CONNECTIONS} connections, ${processes === 1 ? '1 process' : `${processes} processes`}, +${delay} ms per commit`
  console.log(`${title}: ${results.join(', ')}`)
}

/** All requests with the key of the first server, so that all processes count for the same key. */
function withOneKey(servers) {
  return servers.map((server) => ({ ...server, token: servers[0].token }))
}

/** Sends `count` creates to each server. Returns the total number of creates per second. */
async function createRate(servers, count) {
  const connections = CONNECTIONS / servers.length
  const loads = servers.map(({ port, token }) => load(port, requestText('create', token), count, connections))
  return (count * servers.length) / Math.max(...(await Promise.all(loads)))
}

async function benchCounts({ concurrency = 32, count = 3_000 } = {}) {
  const pool = new Pool({ connectionString: process.env.DATABASE_URL, max: concurrency })
  const { quota } = postgres(pool, { schema: SCHEMA })
  const request = { subject: 'key:hot', anonymous: false, limits: LIMITS, ban: false, now: 0 }
  await pool.query(`CREATE TABLE ${SCHEMA}.bare (subject text PRIMARY KEY, used bigint)`)
  const upsert = `INSERT INTO ${SCHEMA}.bare AS b VALUES ($1, 1)
ON CONFLICT (subject) DO UPDATE SET used = b.used + 1 RETURNING used`
  const contestants = { bare: () => pool.query(upsert, ['key:hot']), kit: () => quota.spend(request) }
  const rates = await ratesByTurns(contestants, { concurrency, count, rounds: ROUNDS })
  await pool.end()
  const [bare, kit] = [median(rates.bare), median(rates.kit)]
  console.log(`counts of one key, ${concurrency} at a time: bare ${bare.toFixed(0)}/s, kit ${kit.toFixed(0)}/s`)
}

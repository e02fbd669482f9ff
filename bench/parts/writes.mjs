import { Pool } from 'pg'
import { importKit, LIMITS } from '../contestants/fixtures.mjs'
import { works } from '../load/works.mjs'
import { withDatabases } from '../support/databases.mjs'
import { withServers } from '../support/processes.mjs'
import { ratesByTurns } from '../support/rates-by-turns.mjs'
import { median, ratioOf, ratioText, shuffled } from '../support/statistics.mjs'

const CONNECTIONS = 128
const SCHEMA = `bench_writes_${process.pid}`

/**
 * Measures writes to PostgreSQL with slow commits. Compares creates through the whole API with inserts by the driver alone, from
 * one process and from four. Compares counts of one key with upserts.
 */
export const writes = (context) =>
  withDatabases(async ({ postgresUrl }) => {
    if (!postgresUrl) return []
    const { postgres } = await importKit('postgres')
    const pool = new Pool({ connectionString: postgresUrl })
    try {
      await postgres(pool, { schema: SCHEMA }).migrate()
      const results = []
      for (const processes of [1, 4])
        for (const delay of [0, 5, 20]) results.push(await creates({ ...context, postgresUrl, processes, delay }))
      await counts(postgresUrl, postgres, context)
      return results
    } finally {
      await pool.query(`DROP SCHEMA ${SCHEMA} CASCADE`)
      await pool.end()
    }
  })

/** `processes` servers of each kind share the table and the key. The load goes to all servers of a kind at once. */
async function creates({ load, settings, postgresUrl, processes, delay }) {
  const server = (name, mode) => ({
    name,
    file: 'postgres',
    does: 'less',
    args: [mode, String(delay * 1000), SCHEMA],
    env: { DATABASE_URL: postgresUrl },
    isPinned: false,
  })
  const servers = ['driver', 'kit'].flatMap((mode) => Array(processes).fill(server(mode, mode)))
  const rates = await withServers(servers, async (running) => {
    const contestants = {
      driver: running.filter(({ name }) => name === 'driver'),
      kit: running.filter(({ name }) => name === 'kit'),
    }
    const [{ tokens }] = contestants.kit
    for (const one of contestants.kit) one.tokens = tokens
    const rates = { driver: [], kit: [] }
    for (let round = -1; round < settings.rounds; round++) {
      for (const [name, ofKind] of shuffled(Object.entries(contestants))) {
        const rate = await createRate(load, ofKind, settings.burst * 2)
        if (round >= 0) rates[name].push(rate)
      }
    }
    return rates
  })
  const ratio = ratioOf([rates.kit], [rates.driver])
  const name = `${processes} processes, ${delay} ms per commit`
  const both = `driver ${median(rates.driver).toFixed(0)}/s, petstore-kit ${median(rates.kit).toFixed(0)}/s`
  console.log(`creates, ${CONNECTIONS} connections, ${name}: ${both}, ratio ${ratioText(ratio)}`)
  return { processes, delay, driver: Math.round(median(rates.driver)), kit: Math.round(median(rates.kit)), ...ratio }
}

/** Returns the number of creates per second of all servers together. */
async function createRate(load, servers, duration) {
  const targets = servers.map((server) => ({ port: server.port, requests: works.create(server) }))
  return load.connectedToAll(targets, CONNECTIONS / servers.length, async ({ run }) => {
    const { count, seconds } = await run(duration)
    return count / seconds
  })
}

async function counts(connectionString, postgres, { settings }) {
  const concurrency = 32
  const pool = new Pool({ connectionString, max: concurrency })
  const { quota } = postgres(pool, { schema: SCHEMA })
  const request = { subject: 'key:hot', anonymous: false, limits: LIMITS, ban: false, now: 0 }
  await pool.query(`CREATE TABLE ${SCHEMA}.bare (subject text PRIMARY KEY, used bigint)`)
  const upsert = `INSERT INTO ${SCHEMA}.bare AS b VALUES ($1, 1)
ON CONFLICT (subject) DO UPDATE SET used = b.used + 1 RETURNING used`
  const contestants = { bare: () => pool.query(upsert, ['key:hot']), kit: () => quota.spend(request) }
  const rates = await ratesByTurns(contestants, { concurrency, count: 3_000, rounds: settings.rounds })
  await pool.end()
  const [bare, kit] = [median(rates.bare), median(rates.kit)]
  console.log(
    `counts of one key, ${concurrency} at a time: upserts ${bare.toFixed(0)}/s, petstore-kit ${kit.toFixed(0)}/s`,
  )
}

import { once } from 'node:events'
import { importKit, LIMITS } from '../contestants/fixtures.mjs'
import { sendLoad } from '../load/client.mjs'
import { works } from '../load/works.mjs'
import { withDatabases } from '../support/databases.mjs'
import { openPool } from '../support/pool.mjs'
import { withServers } from '../support/processes.mjs'
import { ratesByTurns } from '../support/rates-by-turns.mjs'
import { median, ratioOf, ratioText, shuffled } from '../support/statistics.mjs'

const PROCESSES = 4
const CONNECTIONS = 128
/** In milliseconds. With a shorter warm-up, most of the time of four processes was spent on compiling their code. */
const WARM_UP = 2_000
const SCHEMA = `bench_writes_${process.pid}`

/**
 * Compares our writes to PostgreSQL with those of the bare driver. Four processes add animals, with fast and with slow commits:
 * first in the storage, then over HTTP, where a minimal handler calls the driver and ours counts each request, in PostgreSQL or in
 * Redis. At the end, compares how fast
 * one process counts the requests of one key with how fast the driver upserts one row.
 */
export const writes = (context) =>
  withDatabases(async ({ postgresUrl, redisUrl }) => {
    if (!postgresUrl) return []
    const { postgres } = await importKit('postgres')
    const pool = openPool({ connectionString: postgresUrl })
    try {
      await postgres(pool, { schema: SCHEMA }).migrate()
      const results = []
      for (const delay of [0, 20]) results.push(...(await creates({ ...context, postgresUrl, redisUrl, delay })))
      await counts(postgresUrl, postgres, context)
      return results
    } finally {
      await pool.query(`DROP SCHEMA IF EXISTS ${SCHEMA} CASCADE`)
      await pool.end()
    }
  })

/** All servers of one kind share the table and the key, and are measured together. */
async function creates({ settings, postgresUrl, redisUrl, delay }) {
  const server = (name, kind, env = {}) => ({
    name,
    file: 'postgres',
    does: 'less',
    args: [kind, String(delay * 1000), SCHEMA],
    env: { DATABASE_URL: postgresUrl, ...env },
    isPinned: false,
    ipc: true,
  })
  const kinds = [server('driver', 'driver'), server('kit', 'kit')]
  if (redisUrl) kinds.push(server('kit with Redis', 'kit', { REDIS_URL: redisUrl }))
  const servers = kinds.flatMap((kind) => Array(PROCESSES).fill(kind))
  return withServers(servers, async (running) => {
    const contestants = kinds.map(({ name }) => [name, running.filter((one) => one.name === name)])
    for (const [, ofKind] of contestants) for (const one of ofKind) one.tokens = ofKind[0].tokens
    const ways = [
      // Without HTTP, no request is counted.
      ['in the storage', createRate, contestants.slice(0, 2)],
      ['over HTTP', httpCreateRate, contestants],
    ]
    const results = []
    for (const [way, rateOf, compared] of ways) {
      const rates = Object.fromEntries(compared.map(([name]) => [name, []]))
      for (const [, ofKind] of compared) await rateOf(ofKind, WARM_UP)
      for (let round = 0; round < settings.rounds; round++)
        for (const [name, ofKind] of shuffled(compared)) rates[name].push(await rateOf(ofKind, settings.burst * 2))
      const driver = Math.round(median(rates.driver))
      for (const [name] of compared.slice(1)) {
        const ratio = ratioOf([rates[name]], [rates.driver])
        const kit = Math.round(median(rates[name]))
        const counted = name === 'kit' ? way : `${way}, counts in Redis`
        const text = `creates ${counted}, ${CONNECTIONS} at a time, ${PROCESSES} processes, ${delay} ms per commit`
        console.log(`${text}: driver ${driver}/s, petstore-kit ${kit}/s, ratio ${ratioText(ratio)}`)
        results.push({ way: counted, delay, driver, kit, ...ratio })
      }
    }
    return results
  })
}

/** Returns the number of creates per second of all servers together, without HTTP. */
export async function createRate(servers, duration, concurrency = CONNECTIONS) {
  const rates = servers.map(async ({ child }) => {
    child.send({ concurrency: concurrency / servers.length, duration })
    const [rate] = await once(child, 'message')
    return rate
  })
  return (await Promise.all(rates)).reduce((sum, rate) => sum + rate)
}

/** Returns the number of creates per second of all servers together. */
async function httpCreateRate(servers, duration) {
  const options = { amount: duration, connections: CONNECTIONS, sharesProcessors: true }
  const { count, seconds } = await sendLoad(servers, works.create(servers[0]), options)
  return count / seconds
}

async function counts(connectionString, postgres, { settings }) {
  const concurrency = 32
  const pool = openPool({ connectionString, max: concurrency })
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

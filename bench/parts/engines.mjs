import { importKit, LIMITS } from '../contestants/fixtures.mjs'
import { compareServers } from '../support/compare.mjs'
import { withDatabases } from '../support/databases.mjs'
import { ratesByTurns } from '../support/rates-by-turns.mjs'
import { median, ratioOf, ratioText } from '../support/statistics.mjs'

const cases = ['list', 'create'].map((work) => ({ work, connections: 32 }))

/** Compares each engine with its bare driver: the same statements, with the same durability. */
export const engines = (context) =>
  withDatabases(async ({ postgresUrl, redisUrl }) => {
    const results = await compareServers(groupOf('SQLite', 'sqlite'), cases, context)
    if (postgresUrl)
      results.push(...(await compareServers(groupOf('PostgreSQL', 'postgres', postgresUrl), cases, context)))
    if (redisUrl) results.push(await countsInRedis(redisUrl, context))
    return results
  })

/** Beside a database, the server and the load run on all processors. */
function groupOf(name, file, url) {
  const env = url ? { DATABASE_URL: url } : {}
  const isPinned = url === undefined
  const servers = [
    { name: 'the bare driver', file, args: ['driver'], does: 'less', env, isPinned },
    { name: 'petstore-kit', file, does: 'all', env, isPinned },
  ]
  return { name, servers, metric: 'rate', sharesProcessors: !isPinned }
}

/** Compares the rate of the quota store with the rate of the driver alone, for calls of the same script. */
async function countsInRedis(url, { settings }) {
  const { Redis } = await import('ioredis')
  const { redis } = await importKit('redis')
  const client = new Redis(url)
  let words = []
  const { quota } = redis((...given) => {
    words = given
    return client.call(...given)
  })
  const request = { subject: `bench:${process.pid}`, anonymous: false, limits: LIMITS, ban: false, now: 0 }
  const kit = () => quota.spend(request)
  // The first call may send the whole script, the second sends only its hash. The bare driver repeats the second command.
  await kit()
  await kit()
  const [command, ...args] = words
  if (command !== 'EVALSHA') throw new Error(`expected EVALSHA from the second call on, got ${command}`)
  const contestants = { bare: () => client.call(command, ...args), kit }
  const rates = await ratesByTurns(contestants, {
    concurrency: 64,
    count: 5_000,
    rounds: settings.rounds * settings.processes,
  })
  await client.del(args[2])
  client.disconnect()
  const ratio = ratioOf([rates.kit], [rates.bare])
  console.log(`\nRedis, counts: ${median(rates.kit).toFixed(0)}/s, rate of the bare script ${ratioText(ratio)}`)
  return {
    group: 'Redis',
    name: 'petstore-kit',
    work: 'count',
    rate: [rates.kit.map(Math.round)],
    base: [rates.bare.map(Math.round)],
  }
}

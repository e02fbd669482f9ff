import { compare, median, ratesByTurns } from './compare.mjs'
import { LIMITS } from './fixtures.mjs'

/** Compares a list in each database with the same query by the driver only, and a count in Redis with its script only. */
export async function benchEngines() {
  await compareEngine('SQLite', 'sqlite')
  if (process.env.DATABASE_URL) await compareEngine('PostgreSQL', 'postgres')
  else console.log('\nSkipped: PostgreSQL, because DATABASE_URL is not set.')
  if (process.env.REDIS_URL) await benchRedis(process.env.REDIS_URL)
  else console.log('\nSkipped: Redis, because REDIS_URL is not set.')
}

function compareEngine(engine, file) {
  const servers = [
    { name: 'the bare driver', file, args: ['bare'] },
    { name: 'kit', file },
  ]
  return compare(`${engine}, list`, 'list', servers, { count: 2_000 })
}

async function benchRedis(url, { count = 5_000, rounds = 15, concurrency = 64 } = {}) {
  const { Redis } = await import('ioredis')
  const { redis } = await import('petstore-kit/redis')
  const client = new Redis(url)
  let words = []
  const { quota } = redis((...given) => {
    words = given
    return client.call(...given)
  })
  const request = { subject: `bench:${process.pid}`, anonymous: false, limits: LIMITS, ban: false, now: 0 }
  const kit = () => quota.spend(request)
  // The first call may send the whole script. The second call sends only the hash of the script. The bare client then repeats
  // this second call.
  await kit()
  await kit()
  const [command, ...args] = words
  if (command !== 'EVALSHA') throw new Error(`expected EVALSHA from the second call on, got ${command}`)
  const contestants = { bare: () => client.call(command, ...args), kit }
  const rates = await ratesByTurns(contestants, { concurrency, count, rounds })
  await client.del(args[2])
  client.disconnect()
  const ratio = median(rates.kit.map((rate, round) => rate / rates.bare[round]))
  console.log(`\nRedis, counts per second: ${median(rates.kit).toFixed(0)}, of the bare script ${ratio.toFixed(2)}`)
}

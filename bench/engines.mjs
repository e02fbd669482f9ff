import { withDatabases } from './databases.mjs'
import { sendAll } from './load.mjs'
import { ask, OURS, withServers } from './servers.mjs'
import { median, ratioOf, ratioText, shuffled } from './statistics.mjs'
import { works } from './work.mjs'

const DRIVER = 'the bare driver'
/** How many creates the processes send at a time, all together. */
const CREATES = 128
/** By how many milliseconds each commit of PostgreSQL takes longer, to imitate other disks. */
const DELAYS = [0, 5, 20]

/** Compares each engine with its bare driver: the same statements, with the same durability. */
export const engines = (settings) =>
  withDatabases(async ({ postgresUrl, redisUrl }) => {
    const results = []
    const sqlite = { file: 'sqlite', env: {} }
    results.push(...(await overHttp('SQLite', sqlite, settings)))
    if (postgresUrl) {
      const postgres = { file: 'postgres', env: { DATABASE_URL: postgresUrl } }
      results.push(...(await overHttp('PostgreSQL', postgres, settings)))
      for (const processes of [1, 4])
        for (const delay of DELAYS) results.push(await creates(postgres, { processes, delay }, settings))
    }
    if (redisUrl) results.push(await counts(redisUrl, settings))
    return results
  })

/** Compares the rates of one process over HTTP. The bare driver checks no key and counts nothing. */
async function overHttp(engine, { file, env }, settings) {
  const samples = { list: { [OURS]: [], [DRIVER]: [] }, create: { [OURS]: [], [DRIVER]: [] } }
  for (let process = 0; process < settings.processes; process++) {
    const servers = [
      { name: OURS, file, env, args: ['kit'], processors: undefined },
      { name: DRIVER, file, env, args: ['driver'], processors: undefined },
    ]
    await withServers(servers, async (running) => {
      for (const work of Object.keys(samples)) {
        const { requests } = works[work]
        for (const server of running) {
          samples[work][server.name].push([])
          await sendAll(server, requests(server), settings.warmUp)
        }
        for (let round = 0; round < settings.rounds; round++)
          for (const server of shuffled(running)) {
            const rate = await sendAll(server, requests(server), settings.requests)
            samples[work][server.name].at(-1).push(rate)
          }
      }
    })
  }
  return Object.entries(samples).map(([work, of]) => summarize(engine, work, of))
}

/** Compares how many animals several processes add per second, without HTTP. */
async function creates({ file, env }, { processes, delay }, settings) {
  const schema = `bench_${process.pid}_${processes}_${delay}`
  const server = (name, kind) => ({
    name,
    file,
    env,
    args: [kind, String(delay * 1000), schema],
    processors: undefined,
  })
  const servers = [server(OURS, 'kit'), server(DRIVER, 'driver')].flatMap((one) => Array(processes).fill(one))
  const of = { [OURS]: [[]], [DRIVER]: [[]] }
  await withServers(servers, async (running) => {
    const rate = async (name, duration) => {
      const asked = running.filter((one) => one.name === name)
      const message = { concurrency: CREATES / processes, duration }
      const rates = await Promise.all(asked.map((one) => ask(one, message)))
      return rates.reduce((sum, one) => sum + one)
    }
    for (const name of Object.keys(of)) await rate(name, 2_000)
    for (let round = 0; round < settings.rounds * 2; round++)
      for (const name of shuffled(Object.keys(of))) of[name][0].push(await rate(name, 500))
  })
  const slower = delay === 0 ? '' : `, each commit ${delay} ms slower`
  const of128 = `${processes === 1 ? '1 process' : `${processes} processes`}, ${CREATES} at a time${slower}`
  return summarize('PostgreSQL', `create in the storage, ${of128}`, of)
}

/** Compares the rate of the quota store with the rate of calls of the same script by the driver alone. */
async function counts(url, settings) {
  const { Redis } = await import('ioredis')
  const { importKit, LIMITS } = await import('./contestants/fixtures.mjs')
  const { redis } = await importKit('redis')
  const client = new Redis(url)
  let words = []
  const { quota } = redis((...given) => {
    words = given
    return client.call(...given)
  })
  const request = { subject: 'bench', anonymous: false, limits: LIMITS, ban: false, now: 0 }
  // The first call may send the whole script. The second sends only its hash, and the bare driver repeats it.
  await quota.spend(request)
  await quota.spend(request)
  const [command, ...args] = words
  const runs = { [OURS]: () => quota.spend(request), [DRIVER]: () => client.call(command, ...args) }
  const of = { [OURS]: [[]], [DRIVER]: [[]] }
  for (let round = 0; round < settings.rounds * 2; round++)
    for (const name of shuffled(Object.keys(of))) of[name][0].push(await rateOf(runs[name], settings.requests))
  client.disconnect()
  return summarize('Redis', 'count', of)
}

async function rateOf(run, count) {
  const startedAt = performance.now()
  let left = count
  const worker = async () => {
    while (left-- > 0) await run()
  }
  await Promise.all(Array.from({ length: 64 }, worker))
  return (count * 1000) / (performance.now() - startedAt)
}

function summarize(engine, work, of) {
  const [ours, driver] = [OURS, DRIVER].map((name) => median(of[name].flat()))
  const ratio = ratioOf(of[OURS], of[DRIVER])
  console.log(`${engine}, ${work}: ${ours.toFixed(0)}/s, ${ratioText(ratio)} of ${DRIVER}`)
  return { engine, work, driver, ours, ratio }
}

/** Returns a Markdown table of rates per second. */
export function enginesTable(results) {
  const rate = (number) => Math.round(number).toLocaleString('en')
  return [
    '| Engine | Work | Bare driver, per second | petstore-kit | Ratio: higher is better |',
    '| --- | --- | --- | --- | --- |',
    ...results.map(
      ({ engine, work, driver, ours, ratio }) =>
        `| ${engine} | ${work} | ${rate(driver)} | ${rate(ours)} | ${ratioText(ratio)} |`,
    ),
  ].join('\n')
}

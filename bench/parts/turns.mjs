import { withDatabases } from '../support/databases.mjs'
import { openPool } from '../support/pool.mjs'
import { withServers } from '../support/processes.mjs'
import { median, ratioOf, ratioText, shuffled } from '../support/statistics.mjs'
import { createRate } from './writes.mjs'

/** The number of processes, and how many animals all of them together add at a time. */
const SHAPES = [
  { processes: 1, concurrency: 128 },
  { processes: 4, concurrency: 128 },
  { processes: 16, concurrency: 16 },
]
/** How much longer each commit takes, in milliseconds. */
const DELAYS = [0, 5, 20]
/** In milliseconds. */
const WARM_UP = 2_000
const ROUND = 1_000

/**
 * Measures what it costs that one transaction at a time adds animals to PostgreSQL, without HTTP: the default, `parallelCreates`,
 * and, with `--against`, the default of an earlier build.
 */
export const turns = ({ settings }) =>
  withDatabases(async ({ postgresUrl }) => {
    if (!postgresUrl) return []
    const kinds = [
      { name: 'in turn' },
      { name: 'parallelCreates', env: { PARALLEL_CREATES: '1' } },
      ...(settings.against ? [{ name: 'earlier build', against: settings.against }] : []),
    ]
    const pool = openPool({ connectionString: postgresUrl })
    const schemas = kinds.map((_, index) => `bench_turns_${process.pid}_${index}`)
    const results = []
    try {
      for (const shape of SHAPES)
        for (const delay of DELAYS) {
          const servers = kinds.flatMap(({ name, env, against }, index) => {
            const args = ['kit', String(delay * 1_000), schemas[index]]
            const options = { isPinned: false, ipc: true, env: { DATABASE_URL: postgresUrl, ...env }, against }
            return Array(shape.processes).fill({ name, file: 'postgres', args, ...options })
          })
          const rates = await withServers(servers, (running) => measure(kinds, running, shape, settings))
          results.push({ ...shape, delay, ...summary(kinds, rates, shape, delay) })
        }
      return results
    } finally {
      for (const schema of schemas) await pool.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE`)
      await pool.end()
    }
  })

async function measure(kinds, running, { concurrency }, settings) {
  const contestants = kinds.map(({ name }) => [name, running.filter((one) => one.name === name)])
  const rates = Object.fromEntries(kinds.map(({ name }) => [name, []]))
  for (const [, ofKind] of contestants) await createRate(ofKind, WARM_UP, concurrency)
  for (let round = 0; round < settings.rounds; round++)
    for (const [name, ofKind] of shuffled(contestants)) rates[name].push(await createRate(ofKind, ROUND, concurrency))
  return rates
}

function summary(kinds, rates, { processes, concurrency }, delay) {
  const medians = Object.fromEntries(kinds.map(({ name }) => [name, Math.round(median(rates[name]))]))
  const base = rates[kinds.at(-1).name]
  const figures = kinds.map(({ name }) => `${name} ${medians[name]}/s (${ratioText(ratioOf([rates[name]], [base]))})`)
  console.log(`${processes} processes, ${concurrency} creates at a time, +${delay} ms: ${figures.join(', ')}`)
  return medians
}

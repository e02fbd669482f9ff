import { earlierBuild } from '../support/builds.mjs'
import { pinned, start } from '../support/processes.mjs'
import { median } from '../support/statistics.mjs'

const program = (name) => new URL(`../programs/${name}.mjs`, import.meta.url).pathname

/**
 * Measures how time and memory grow: 10^2 to 10^6 animals, and 10^0 to 10^6 keys. With `--against`, each result has the figures of
 * the earlier build as `earlier`.
 */
export async function scale({ settings }) {
  const results = { animals: [], keys: [] }
  const most = settings.isQuick ? 4 : 6
  console.log('\nanimals in memory: time of a page (the slowest kind), of a create, bytes per animal beyond its name')
  for (let power = 2; power <= most; power++)
    results.animals.push(await growth('animals', 10 ** power, settings, animalFigures, animalText))
  console.log('\nkeys in the quota store in memory: time of a count, bytes in all')
  for (let power = 0; power <= most; power++)
    results.keys.push(await growth('keys', 10 ** power, settings, keyFigures, keyText))
  return results
}

function animalFigures(runs) {
  const pages = runs[0].pages.map((_, i) => Math.min(...runs.map((run) => run.pages[i])))
  const bytes = median(runs.map((run) => run.bytes))
  return { pages, create: Math.min(...runs.map((run) => run.create)), bytes }
}

const animalText = ({ pages, create, bytes }) =>
  `list ${Math.max(...pages).toFixed(3)} us  create ${create.toFixed(2)} us  ${bytes.toFixed(0)} bytes`

const keyFigures = (runs) => ({
  time: Math.min(...runs.map((run) => run.time)),
  bytes: median(runs.map((run) => run.bytes)),
})

const keyText = ({ time, bytes }) => `${time.toFixed(3)} us  ${(bytes / 1024).toFixed(0)} kB`

async function growth(name, count, { processes, against }, figuresOf, textOf) {
  const figures = async (dist) => figuresOf(await measured(name, count, processes, dist))
  const result = { count, ...(await figures()) }
  if (against) result.earlier = await figures(earlierBuild(against))
  const before = result.earlier ? `  (earlier build: ${textOf(result.earlier)})` : ''
  console.log(`  ${String(count).padStart(8)}  ${textOf(result)}${before}`)
  return result
}

/** Runs a program in several processes, and returns the numbers that each prints. */
async function measured(name, count, processes, dist) {
  const runs = []
  const command = pinned(0, [process.execPath, '--expose-gc', program(name), String(count)])
  const env = dist && { PETSTORE_KIT_DIST: dist }
  for (let i = 0; i < processes; i++) runs.push(await start(`${name} of ${count}`, command, { env }))
  return runs
}

import { pinned, start } from '../support/processes.mjs'
import { median } from '../support/statistics.mjs'

const program = (name) => new URL(`../programs/${name}.mjs`, import.meta.url).pathname

/** Measures how time and memory grow: 10^2 to 10^6 animals, and 10^0 to 10^6 keys. */
export async function scale({ settings }) {
  const results = { animals: [], keys: [] }
  const most = settings.isQuick ? 4 : 6
  console.log('\nanimals in memory: time of a page (the slowest kind), of a create, bytes per animal beyond its name')
  for (let power = 2; power <= most; power++) {
    const runs = await measured('animals', 10 ** power, settings)
    const pages = runs[0].pages.map((_, i) => Math.min(...runs.map((run) => run.pages[i])))
    const bytes = median(runs.map((run) => run.bytes))
    const create = Math.min(...runs.map((run) => run.create))
    results.animals.push({ count: 10 ** power, pages, create, bytes })
    const texts = [
      `list ${Math.max(...pages).toFixed(3)} us`,
      `create ${create.toFixed(2)} us`,
      `${bytes.toFixed(0)} bytes`,
    ]
    console.log(`  ${String(10 ** power).padStart(8)}  ${texts.join('  ')}`)
  }
  console.log('\nkeys in the quota store in memory: time of a count, bytes in all')
  for (let power = 0; power <= most; power++) {
    const runs = await measured('keys', 10 ** power, settings)
    const time = Math.min(...runs.map((run) => run.time))
    const bytes = median(runs.map((run) => run.bytes))
    results.keys.push({ count: 10 ** power, time, bytes })
    console.log(`  ${String(10 ** power).padStart(8)}  ${time.toFixed(3)} us  ${(bytes / 1024).toFixed(0)} kB`)
  }
  return results
}

/** Runs a program in several processes, and returns the numbers that each prints. */
async function measured(name, count, { processes }) {
  const runs = []
  const command = pinned(0, [process.execPath, '--expose-gc', program(name), String(count)])
  for (let i = 0; i < processes; i++) runs.push(await start(`${name} of ${count}`, command))
  return runs
}

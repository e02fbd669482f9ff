import { pinned, start } from '../support/processes.mjs'

const program = (name) => new URL(`../programs/${name}.mjs`, import.meta.url).pathname

/** Measures how time and memory grow: 10^2 to 10^6 animals, and 10^0 to 10^6 keys. */
export async function scale({ settings }) {
  const results = { animals: [], keys: [] }
  const most = settings.isQuick ? 4 : 6
  console.log('\nanimals in memory: time of a page (the slowest of 12), bytes per animal beyond its name')
  for (let power = 2; power <= most; power++) {
    const result = await measured('animals', 10 ** power)
    results.animals.push(result)
    const { count, list, create, bytes } = result
    console.log(
      `  ${String(count).padStart(8)}  list ${list.toFixed(3)} us  create ${create.toFixed(2)} us  ${bytes.toFixed(0)} bytes`,
    )
  }
  console.log('\nkeys in the quota store in memory: time of a count, bytes in all')
  for (let power = 0; power <= most; power++) {
    const result = await measured('keys', 10 ** power)
    results.keys.push(result)
    console.log(
      `  ${String(result.count).padStart(8)}  ${result.time.toFixed(3)} us  ${(result.bytes / 1024).toFixed(0)} kB`,
    )
  }
  return results
}

/** Runs a program in a process of its own, and returns the numbers that it prints. */
async function measured(name, count) {
  const {
    count: _,
    child,
    name: __,
    pid,
    startedIn,
    ...numbers
  } = await start(`${name} of ${count}`, pinned(0, [process.execPath, '--expose-gc', program(name), String(count)]))
  return { count, ...numbers }
}

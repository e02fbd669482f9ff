// npm run bench -- [part ...] [--quick] [--against DIR]
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { withLoad } from './load/client.mjs'
import { works } from './load/works.mjs'
import { busy } from './parts/busy.mjs'
import { engines } from './parts/engines.mjs'
import { fetchInProcess } from './parts/fetch.mjs'
import { handle } from './parts/handle.mjs'
import { http } from './parts/http.mjs'
import { latency } from './parts/latency.mjs'
import { pages } from './parts/pages.mjs'
import { scale } from './parts/scale.mjs'
import { startUp } from './parts/start.mjs'
import { writes } from './parts/writes.mjs'
import { machine } from './support/machine.mjs'
import { pinThisProcess } from './support/processes.mjs'

const parts = { http, latency, handle, scale, start: startUp, engines, writes, busy, fetch: fetchInProcess, pages }
/** Without names of parts, `--quick` runs these. */
const QUICK_PARTS = ['http', 'handle', 'scale', 'start']

/** Times are in milliseconds. `burst` is one measurement, `calls` the number of calls in one measurement without HTTP. */
const quick = {
  isQuick: true,
  processes: 1,
  rounds: 3,
  burst: 100,
  warmUp: 250,
  calls: 5_000,
  works: ['list', 'varied', 'create'],
}
const full = {
  isQuick: false,
  processes: 3,
  rounds: 5,
  burst: 200,
  warmUp: 500,
  calls: 20_000,
  works: Object.keys(works),
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    against: { type: 'string' },
  },
})
for (const name of positionals) {
  if (!Object.hasOwn(parts, name)) throw new Error(`no part "${name}": expected ${Object.keys(parts).join(', ')}`)
}
const settings = { ...(values.quick ? quick : full), against: values.against }

const all = values.quick ? QUICK_PARTS : Object.keys(parts)
const chosen = positionals.length > 0 ? positionals : all

pinThisProcess()
const results = { date: new Date().toISOString().slice(0, 10), machine: machine(), settings, parts: {} }
const { versions, ...rest } = results.machine
console.log(rest)
await withLoad(async (load) => {
  for (const name of chosen) {
    const startedAt = performance.now()
    results.parts[name] = await parts[name]({ load, settings })
    console.log(`(${name}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s)`)
  }
})
const folder = new URL('../.cache/bench/', import.meta.url)
mkdirSync(folder, { recursive: true })
writeFileSync(new URL('results.json', folder), JSON.stringify(results))

// npm run bench -- [part ...] [--quick] [--against DIR] [--write-docs]
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { withLoad } from './load/client.mjs'
import { WORKS } from './load/works.mjs'
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
import { earlierBuild } from './support/builds.mjs'
import { commitOf, machine } from './support/machine.mjs'
import { pinThisProcess } from './support/processes.mjs'

const parts = { http, latency, handle, scale, start: startUp, engines, writes, busy, fetch: fetchInProcess, pages }
/** Without names of parts, `--quick` runs these. */
const QUICK_PARTS = ['http', 'handle', 'scale', 'start']
/** With `--write-docs`, these run. They are the parts of docs/performance.md. */
const DOC_PARTS = ['http', 'latency', 'handle', 'scale', 'start', 'engines', 'writes']

/**
 * `burst` is one measurement, in milliseconds; `warmUp` the requests before it; `calls` the number of calls in one measurement
 * without HTTP.
 */
const quick = {
  isQuick: true,
  processes: 1,
  rounds: 3,
  burst: 100,
  warmUp: 8_000,
  calls: 5_000,
  works: ['list', 'varied', 'create'],
}
const full = {
  isQuick: false,
  processes: 2,
  rounds: 5,
  burst: 160,
  warmUp: 20_000,
  calls: 20_000,
  works: WORKS,
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    against: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
  },
})
for (const name of positionals) {
  if (!Object.hasOwn(parts, name)) throw new Error(`no part "${name}": expected ${Object.keys(parts).join(', ')}`)
}
const settings = { ...(values.quick ? quick : full), against: values.against }
if (values.against) settings.earlier = commitOf(earlierBuild(values.against))

if (values['write-docs'] && (values.quick || positionals.length > 0))
  throw new Error('--write-docs needs all figures of one run: omit --quick and the names of parts')
const all = values['write-docs'] ? DOC_PARTS : values.quick ? QUICK_PARTS : Object.keys(parts)
const chosen = positionals.length > 0 ? positionals : all

const folder = new URL('../.cache/bench/', import.meta.url)
mkdirSync(folder, { recursive: true })

pinThisProcess()
const results = { date: new Date().toISOString().slice(0, 10), machine: machine(), settings, parts: {} }
const { versions, ...rest } = results.machine
console.log(rest)
await withLoad(async (load) => {
  for (const name of chosen) {
    const startedAt = performance.now()
    results.parts[name] = await parts[name]({ load, settings })
    console.log(`(${name}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s)`)
    writeFileSync(new URL('results.json', folder), JSON.stringify(results))
  }
})
if (values['write-docs']) await import('./report/write.mjs')

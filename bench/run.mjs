// npm run bench -- [part ...] [--quick] [--only GROUP] [--against DIR] [--write-docs]
import { mkdirSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { buildClient } from './load/client.mjs'
import { engines } from './parts/engines.mjs'
import { fetchInProcess } from './parts/fetch.mjs'
import { handle } from './parts/handle.mjs'
import { http } from './parts/http.mjs'
import { pages } from './parts/pages.mjs'
import { scale } from './parts/scale.mjs'
import { turns } from './parts/turns.mjs'
import { writes } from './parts/writes.mjs'
import { earlierBuild } from './support/builds.mjs'
import { commitOf, machine } from './support/machine.mjs'
import { pinThisProcess } from './support/processes.mjs'

const parts = { http, handle, scale, engines, writes, turns, fetch: fetchInProcess, pages }
/** The parts that `--quick` runs if the command names none. */
const QUICK_PARTS = ['http', 'handle', 'scale']
/** The parts that `--write-docs` runs: those in docs/performance.md. */
const DOC_PARTS = ['http', 'scale', 'engines', 'writes']
/** The parts that need the load client. */
const OVER_HTTP = ['http', 'engines', 'writes']

/**
 * `burst` is the length of a round, in milliseconds. `warmUp` is the number of requests before the first round. `calls` is the
 * number of calls in a round without HTTP.
 */
const quick = { isQuick: true, processes: 1, rounds: 3, burst: 100, warmUp: 8_000, calls: 2_000 }
const full = { isQuick: false, processes: 3, rounds: 4, burst: 120, warmUp: 15_000, calls: 5_000 }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    against: { type: 'string' },
    'write-docs': { type: 'boolean', default: false },
  },
})
for (const name of positionals) {
  if (!Object.hasOwn(parts, name)) throw new Error(`no part "${name}": expected ${Object.keys(parts).join(', ')}`)
}
const settings = { ...(values.quick ? quick : full), against: values.against, only: values.only }
if (values.against) console.log(`earlier build: ${commitOf(earlierBuild(values.against))}`)

const isDocs = values['write-docs']
if (isDocs && (values.quick || values.only || values.against || positionals.length > 0))
  throw new Error('--write-docs needs all figures of one run: omit all other arguments')
const all = isDocs ? DOC_PARTS : values.quick ? QUICK_PARTS : Object.keys(parts)
let chosen = positionals.length > 0 ? positionals : all

const folder = new URL('../.cache/bench/', import.meta.url)
mkdirSync(folder, { recursive: true })
if (!buildClient()) {
  console.log(`Skipped: ${OVER_HTTP.join(', ')}. The load client needs a C compiler: install cc, gcc or clang.`)
  if (isDocs) throw new Error('--write-docs needs the load client')
  chosen = chosen.filter((name) => !OVER_HTTP.includes(name))
}

pinThisProcess()
const results = { date: new Date().toISOString().slice(0, 10), machine: machine(), settings, parts: {} }
const { versions, ...rest } = results.machine
console.log(rest)
for (const name of chosen) {
  const startedAt = performance.now()
  results.parts[name] = await parts[name]({ settings })
  console.log(`(${name}: ${((performance.now() - startedAt) / 1000).toFixed(0)} s)`)
  writeFileSync(new URL('results.json', folder), JSON.stringify(results))
}
if (isDocs) await import('./report/write.mjs')

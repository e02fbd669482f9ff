// npm run bench -- [node] [bun] [engines] [--quick] [--only WORK] [--against DIR] [--chart]
import { mkdirSync, writeFileSync } from 'node:fs'
import { cpus, platform, release } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { cpuChart } from './chart.mjs'
import { engines, enginesTable } from './engines.mjs'
import { http, httpTable } from './http.mjs'
import { commit, pinThisProcess } from './servers.mjs'

const PARTS = ['node', 'bun', 'engines']
/** `warmUp` and `requests` are numbers of requests, `seconds` is the length of a round at a fixed rate. */
const quick = { processes: 1, rounds: 3, warmUp: 6_000, requests: 3_000, seconds: 1 }
const full = { processes: 4, rounds: 6, warmUp: 15_000, requests: 5_000, seconds: 2 }

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    against: { type: 'string' },
    chart: { type: 'boolean', default: false },
  },
})
const unknown = positionals.find((name) => !PARTS.includes(name))
if (unknown) throw new Error(`no part "${unknown}": expected ${PARTS.join(', ')}`)
const parts = positionals.length > 0 ? positionals : PARTS
const settings = { ...(values.quick ? quick : full), only: values.only, against: values.against }

pinThisProcess()
const results = { http: [], engines: [] }
for (const part of parts) {
  if (part === 'engines') results.engines = await engines(settings)
  else results.http.push(...(await http(part, settings)))
}

console.log(`\n${settings.processes} processes, ${settings.rounds} rounds of ${settings.requests} requests`)
console.log(`commit ${commit()}, ${cpus().length} x ${cpus()[0]?.model.trim()}, ${platform()} ${release()}`)
for (const group of parts.filter((part) => part !== 'engines')) console.log(`\n${httpTable(results.http, group)}`)
if (results.engines.length > 0) console.log(`\n${enginesTable(results.engines)}`)

const folder = join(import.meta.dirname, '../.cache/bench')
mkdirSync(folder, { recursive: true })
writeFileSync(join(folder, 'results.json'), JSON.stringify(results, null, 2))
if (values.chart)
  writeFileSync(join(import.meta.dirname, '../docs/images/performance-node.svg'), cpuChart(results.http))

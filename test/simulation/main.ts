import { parseArgs } from 'node:util'
import { PGlite } from '@electric-sql/pglite'
import { loadSimulation } from './load.ts'
import { report } from './report.ts'

const { values } = parseArgs({
  options: { schedules: { type: 'string', default: '2000' }, seed: { type: 'string', default: '1' } },
})
const [schedules, seed] = [Number(values.schedules), Number(values.seed)]
const { simulate } = await loadSimulation()
const pglite = new PGlite()
const begun = performance.now()
const finding = await simulate(pglite, seed, schedules)
await pglite.close()
const seconds = (performance.now() - begun) / 1000
if (finding === undefined) console.log(`${schedules} schedules in ${seconds.toFixed(1)} s: no rule was broken`)
else console.error(report(finding))
process.exitCode = finding === undefined ? 0 : 1

// Writes docs/performance.md and its charts from the results of the last run: node bench/report/write.mjs
import { readFileSync, writeFileSync } from 'node:fs'
import { chartsOf } from './charts.mjs'
import { pageOf } from './page.mjs'

const root = new URL('../../', import.meta.url)
const results = JSON.parse(readFileSync(new URL('.cache/bench/results.json', root), 'utf8'))

for (const [name, svg] of Object.entries(chartsOf(results)))
  writeFileSync(new URL(`docs/images/${name}.svg`, root), svg)
writeFileSync(new URL('docs/performance.md', root), pageOf(results))

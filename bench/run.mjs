import { benchBusy } from './busy.mjs'
import { benchEngines } from './engines.mjs'
import { benchFetch } from './fetch.mjs'
import { benchHosts } from './hosts.mjs'
import { benchHttp } from './http.mjs'
import { benchPages } from './pages.mjs'
import { benchStart } from './start.mjs'
import { benchWrites } from './writes.mjs'

const benches = {
  busy: benchBusy,
  engines: benchEngines,
  fetch: benchFetch,
  hosts: benchHosts,
  http: benchHttp,
  pages: benchPages,
  start: benchStart,
  writes: benchWrites,
}
const chosen = process.argv.slice(2)
for (const name of chosen.length > 0 ? chosen : Object.keys(benches)) {
  if (!Object.hasOwn(benches, name)) throw new Error(`no bench "${name}": expected ${Object.keys(benches).join(', ')}`)
  await benches[name]()
}

import { benchFetch } from './fetch.mjs'
import { benchHttp } from './http.mjs'
import { benchStart } from './start.mjs'

const benches = { fetch: benchFetch, http: benchHttp, start: benchStart }
const chosen = process.argv.slice(2)
for (const name of chosen.length > 0 ? chosen : Object.keys(benches)) {
  if (!Object.hasOwn(benches, name)) throw new Error(`no bench "${name}": expected ${Object.keys(benches).join(', ')}`)
  await benches[name]()
}

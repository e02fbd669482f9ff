// Runs a bundled Worker with as many D1 databases as the fixtures have stores.
import { readFileSync } from 'node:fs'

const [workerd, bundle] = process.argv.slice(2)
// The Miniflare release for Node 20 contains an older workerd. This variable selects the tested workerd.
process.env.MINIFLARE_WORKERD_PATH = workerd
const { Miniflare } = await import('miniflare')

const miniflare = new Miniflare({
  script: readFileSync(bundle, 'utf8'),
  modules: true,
  compatibilityDate: '2025-10-01',
  compatibilityFlags: ['enable_request_signal'],
  d1Databases: Array.from({ length: 30 }, (_, i) => `DB${i}`),
  // Miniflare's own Worker rewrites requests before they reach the tested Worker. A direct socket bypasses Miniflare's Worker.
  unsafeDirectSockets: [{ host: '127.0.0.1', port: 0 }],
})
const { port } = await miniflare.unsafeGetDirectURL()
console.log(JSON.stringify({ port: Number(port) }))

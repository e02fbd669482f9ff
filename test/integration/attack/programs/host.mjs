import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import process from 'node:process'
import { createPetStore, memory } from 'petstore-kit'
import { toBunHandler } from 'petstore-kit/bun'
import { toDenoHandler } from 'petstore-kit/deno'
import { toNodeHandler } from 'petstore-kit/node'

// Starts a server on Node, Bun or Deno. With the argument `kit`, the server has a pet store. Otherwise, it reads each body and
// responds. `GET /cost` returns the CPU time and memory that the process has used so far.

const isKit = process.argv[2] === 'kit'
const keyStore = { find: (token) => (token === 'free' ? { id: 'key', plan: 'free' } : undefined) }
const backEnd = memory()
/** Throws an error with a message of 1 MB. For the id 1, the message looks like many URLs that may contain passwords. */
const get = (id) => {
  throw new Error((id === 1n ? 'a:@/' : 'abcd').repeat(250_000))
}
const petStore = createPetStore({
  storage: { ...backEnd.storage, get },
  quota: backEnd.quota,
  keyStore,
  anonymous: { perMinute: 1e6, perDay: 1e6 },
  plans: { free: { perMinute: 1e6, perDay: 1e6 } },
})

function cost() {
  const { user, system } = process.cpuUsage()
  const peak = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
  return JSON.stringify({ cpuMs: (user + system) / 1000, peakMb: peak })
}

const bare = async (request) => new Response(String((await request.arrayBuffer()).byteLength))
const ready = (port) => console.log(JSON.stringify({ port }))
const withCost = (handler) => (request, info) =>
  request.url.endsWith('/cost') ? new Response(cost()) : handler(request, info)

if (globalThis.Deno) {
  const handler = withCost(isKit ? toDenoHandler(petStore) : bare)
  Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => ready(port) }, handler)
} else if (globalThis.Bun) {
  const handler = withCost(isKit ? toBunHandler(petStore) : bare)
  ready(Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: handler }).port)
} else {
  const kit = toNodeHandler(petStore)
  const server = createServer((request, response) => {
    if (request.url === '/cost') response.end(cost())
    else if (isKit) kit(request, response)
    else request.on('data', () => {}).on('end', () => response.end('0'))
  })
  server.listen(0, '127.0.0.1', () => ready(server.address().port))
}

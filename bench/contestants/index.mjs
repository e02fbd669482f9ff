/**
 * The servers of the bench. `does` says how much of the job a server does: `all` of it, only the `bytes` (a bare handler that
 * repeats our recorded responses), or `less` (no keys, limits or storage).
 */
const node = (name, file, does = 'all', more = {}) => ({ name, file, runtime: 'node', does, ...more })
const on = (runtime, name, file, does = 'all', more = {}) => ({ name, file, runtime, does, ...more })

export const OURS = 'petstore-kit'
/** Returns the name under which the results list a server that runs our earlier build (`--against`). */
export const earlierOf = (name) => `${name}, earlier build`

export const RUNTIMES = ['Node', 'Bun', 'Deno']

/** Every server is compared with the first server of its group. */
export const groups = [
  {
    name: 'Node',
    servers: [
      node('bare node:http', 'bare-node', 'bytes'),
      node(OURS, 'kit-serve'),
      // The key is checked before the rate limiter of a route runs, so a 401 has no rate-limit headers.
      node('Fastify', 'fastify', 'all', { withoutHeaders: [401] }),
      node('Hono', 'hono'),
      node('Express', 'express'),
    ],
  },
  {
    name: 'Bun',
    servers: [
      on('bun', 'bare Bun.serve', 'bare-bun', 'bytes'),
      on('bun', OURS, 'kit-bun'),
      // Elysia validates before its rate limiter runs, so a 400 has no rate-limit headers.
      on('bun', 'Elysia', 'elysia', 'all', { withoutHeaders: [400] }),
    ],
  },
  {
    name: 'Deno',
    servers: [on('deno', 'bare Deno.serve', 'bare-deno', 'bytes'), on('deno', OURS, 'kit-deno')],
  },
  ...['Express', 'Fastify', 'Hono'].map((host) => ({
    name: `Mounted on ${host}`,
    servers: [node(`bare ${host}`, `bare-${host.toLowerCase()}`, 'bytes'), node(OURS, `kit-${host.toLowerCase()}`)],
  })),
  {
    name: 'Mock servers',
    servers: [
      node(OURS, 'kit-serve'),
      node('json-server', 'json-server', 'less'),
      node("Prism's mock", 'prism', 'less'),
    ],
  },
]

/** With `--against`, adds a copy of each server that `names` contains. The copy runs our earlier build. */
export function withEarlier(servers, names, { against }) {
  if (!against) return servers
  const ours = servers.filter(({ name }) => names.includes(name))
  return [...servers, ...ours.map((server) => ({ ...server, name: earlierOf(server.name), against }))]
}

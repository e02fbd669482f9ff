import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const folder = import.meta.dirname
/** The time limit for the start of a server, in milliseconds. */
const PATIENCE = 60_000

export const OURS = 'petstore-kit'
export const EARLIER = `${OURS}, earlier build`

/** The programs that run servers. Bun is a package of the bench. */
const runtimes = { node: process.execPath, bun: join(folder, 'node_modules/bun/bin/bun.exe') }

/**
 * The servers that are compared over HTTP. `repeats` marks a bare handler, which sends our recorded responses and does none of the
 * work. Responses with a status in `withoutHeaders` may lack rate-limit headers.
 */
export const groups = {
  node: [
    { name: 'bare node:http', file: 'bare-node', repeats: true },
    { name: OURS, file: 'kit-node' },
    // The key is checked before the rate limiter of a route runs.
    { name: 'Fastify', file: 'fastify', withoutHeaders: [401] },
    { name: 'Hono', file: 'hono' },
    { name: 'Express', file: 'express' },
  ],
  bun: [
    { name: 'bare Bun.serve', file: 'bare-bun', runtime: 'bun', repeats: true },
    { name: OURS, file: 'kit-bun', runtime: 'bun' },
    // Elysia validates before its rate limiter runs.
    { name: 'Elysia', file: 'elysia', runtime: 'bun', withoutHeaders: [400] },
  ],
}

/** Returns the servers of a group. With an earlier build, a copy of our server runs it. */
export function contestants(group, against) {
  const servers = groups[group]
  if (against === undefined) return servers
  const dist = resolve(process.env.INIT_CWD ?? '.', against, 'dist')
  if (!existsSync(join(dist, 'index.js'))) throw new Error(`--against: ${dist} has no index.js: build it first`)
  const ours = servers.find(({ name }) => name === OURS)
  return [...servers, { ...ours, name: EARLIER, env: { PETSTORE_KIT_DIST: dist } }]
}

export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

/** Runs this process, and so the load, on processor 1. Servers run on processor 0. */
export function pinThisProcess() {
  if (canPin) spawnSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)])
}

/** All processors, read before this process is pinned. */
const allProcessors = `0-${availableParallelism() - 1}`

/** Returns a command that runs on these processors: by default, on all. */
export const on = (processors, command) =>
  canPin ? ['taskset', '-c', processors ?? allProcessors, ...command] : command

const children = new Set()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

/** Starts a server, and resolves when it has printed its port and its tokens. */
async function start({ file, runtime = 'node', args = [], env = {}, processors = '0', ...server }) {
  const startedAt = performance.now()
  const [program, ...rest] = on(processors, [runtimes[runtime], join(folder, 'contestants', `${file}.mjs`), ...args])
  const child = spawn(program, rest, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    serialization: 'json',
    env: { ...process.env, ...env },
  })
  children.add(child)
  child.once('exit', () => children.delete(child))
  const line = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${server.name} ended with exit code ${code} before it was ready`)))
    setTimeout(() => reject(new Error(`${server.name} was not ready in ${PATIENCE} ms`)), PATIENCE).unref()
  })
  return { ...server, child, startedIn: performance.now() - startedAt, ...JSON.parse(line) }
}

/** Starts servers, passes them to `use`, and stops them, also after an error. */
export async function withServers(servers, use) {
  const running = []
  try {
    for (const server of servers) running.push(await start(server))
    return await use(running)
  } finally {
    await Promise.all(running.map(stop))
  }
}

async function stop({ child }) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill()
  await ended
}

/** Sends a message to a server, and returns its reply. */
export async function ask({ child }, message) {
  child.send(message)
  const [reply] = await once(child, 'message')
  return reply
}

/** Returns the CPU time that a server has used so far, in microseconds, and its resident memory, in bytes. */
export const usageOf = (server) => ask(server, 'usage')

/** Returns the short name of the commit that is checked out. */
export function commit() {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: folder }).trim()
}

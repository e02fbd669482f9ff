import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { earlierBuild } from './builds.mjs'

const bench = new URL('..', import.meta.url).pathname
/** The programs that run servers, with their arguments. Bun and Deno are packages of the bench. */
export const runtimes = {
  node: [process.execPath],
  bun: [`${bench}node_modules/bun/bin/bun.exe`],
  deno: [`${bench}node_modules/.bin/deno`, 'run', '--allow-all', '--quiet'],
}
/** The time limit for the start of a server, in milliseconds. */
const PATIENCE = 60_000
const children = new Set()
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
})
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

export const canPin = availableParallelism() > 1 && spawnSync('taskset', ['-V']).status === 0

/** Returns a command that runs on the given processor. Servers run on 0; the load generator and this process run on 1. */
export const pinned = (processor, command) => (canPin ? ['taskset', '-c', String(processor), ...command] : command)

/** The processors that this process may use, such as `0-3`. Read before `pinThisProcess`. */
const allProcessors = canPin
  ? spawnSync('taskset', ['-c', '-p', String(process.pid)], { encoding: 'utf8' })
      .stdout.trim()
      .split(': ')
      .at(-1)
  : undefined

/** Returns a command that runs on all processors. Otherwise, a child runs on the processor to which this process is pinned. */
export const onAllProcessors = (command) => (canPin ? ['taskset', '-c', allProcessors, ...command] : command)

/** Pins all threads of this process to processor 1. */
export function pinThisProcess() {
  if (canPin) spawnSync('taskset', ['-a', '-p', '-c', '1', String(process.pid)])
}

/** Starts a program, and resolves with the first line of its output as JSON. */
export async function start(name, [program, ...args], { env = {}, ipc = false } = {}) {
  const startedAt = performance.now()
  const stdio = ['ignore', 'pipe', 'inherit', ...(ipc ? ['ipc'] : [])]
  const child = spawn(program, args, { cwd: bench, stdio, env: { ...process.env, ...env } })
  children.add(child)
  child.on('exit', () => children.delete(child))
  const first = await new Promise((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve)
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`${name} ended with exit code ${code} before it was ready`)))
    setTimeout(() => reject(new Error(`${name} was not ready within ${PATIENCE} ms`)), PATIENCE).unref()
  })
  return { name, child, pid: child.pid, startedIn: performance.now() - startedAt, ...JSON.parse(first) }
}

/** Starts servers, passes them to `use`, and stops them, also after an error. */
export async function withServers(servers, use) {
  const running = []
  try {
    for (const server of servers) {
      const { name, file, runtime = 'node', args = [], isPinned = true, ipc } = server
      const command = [...runtimes[runtime], `${bench}contestants/${file}.mjs`, ...args]
      const dist = server.against && earlierBuild(server.against)
      const env = { ...server.env, ...(dist && { PETSTORE_KIT_DIST: dist }) }
      running.push({
        ...server,
        ...(await start(name, isPinned ? pinned(0, command) : onAllProcessors(command), { env, ipc })),
      })
    }
    return await use(running)
  } finally {
    await Promise.all(running.map(stop))
  }
}

/** Ends a process and waits until it has ended. */
export function stop({ child }) {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill()
  return ended
}

/** Returns the CPU time that all threads of a process have used so far, in microseconds, as the kernel counts it. */
export function cpuTime(pid) {
  let nanoseconds = 0
  for (const thread of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'latin1').split(' ')[0])
  return nanoseconds / 1000
}

/** Returns the resident memory of a process, in megabytes. */
export function memoryOf(pid) {
  const [, kilobytes] = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))
  return Number(kilobytes) / 1024
}

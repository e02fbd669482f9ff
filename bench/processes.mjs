import { fork, spawnSync } from 'node:child_process'
import { once } from 'node:events'

const hasTaskset = spawnSync('taskset', ['-V']).status === 0
/** The time limit for the start of a server, in milliseconds. */
const PATIENCE = 60_000

/** Pins a process to a processor if `taskset` exists. Servers run on processor 0, the sender of the requests on processor 1. */
export function pin(pid, processor) {
  if (hasTaskset) spawnSync('taskset', ['-a', '-p', '-c', String(processor), String(pid)])
}

/** Starts each server in a process, passes the servers to `use`, and stops them, also after an error. */
export async function withServers(servers, use) {
  const children = []
  try {
    const starting = servers.map(({ name, file = name, args = [], execPath = process.execPath, isPinned = true }) => {
      const child = fork(new URL(`servers/${file}.mjs`, import.meta.url), args, {
        execPath,
        stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
      })
      children.push(child)
      return started(name, child, isPinned)
    })
    return await use(await Promise.all(starting))
  } finally {
    for (const child of children) child.kill()
  }
}

async function started(name, child, isPinned) {
  const failed = (why) => new Error(`the server "${name}" ${why}`)
  const ready = new Promise((resolve, reject) => {
    child.once('message', resolve)
    child.once('error', reject)
    child.once('exit', (code) => reject(failed(`ended with exit code ${code}`)))
    setTimeout(() => reject(failed(`did not start within ${PATIENCE} ms`)), PATIENCE).unref()
  })
  const { port, token } = await ready
  if (isPinned) pin(child.pid, 0)
  return { name, child, port, token }
}

/** Returns the processor time that a server process has used so far, in microseconds. */
export async function processorTime(child) {
  child.send('cpu')
  const [{ cpu }] = await once(child, 'message')
  return cpu.user + cpu.system
}

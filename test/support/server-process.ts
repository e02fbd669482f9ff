import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

/** A server process that a test has started. */
export interface ServerProcess {
  readonly pid: number
  /** Returns the first 100 lines of its output so far. */
  output(): string
  /** Sends a signal and waits until the process has ended. */
  stop(signal: NodeJS.Signals): Promise<void>
}

const running = new Set<ChildProcess>()
process.on('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/** Starts a server and waits for the line of output that matches `ready`. */
export async function startProcess(
  command: string,
  args: readonly string[],
  ready: RegExp,
  options: SpawnOptions = {},
): Promise<ServerProcess> {
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  const ended = once(child, 'exit').finally(() => running.delete(child))
  const lines: string[] = []
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue
      createInterface({ input: stream }).on('line', (line) => {
        if (lines.length < 100) lines.push(line)
        if (ready.test(line)) resolve()
      })
    }
    ended.then(() => reject(new Error(`${command} has ended:\n${lines.join('\n')}`)), reject)
  })
  return {
    pid: child.pid as number,
    output: () => lines.join('\n'),
    async stop(signal) {
      child.kill(signal)
      await ended
    },
  }
}

/**
 * Returns a port that was free a moment ago. It is below the ports that the system gives to clients, because a client of another
 * test could take such a port before the server starts.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(10_000, 32_000)
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return freePort()
  }
  server.close()
  await once(server, 'close')
  return port
}

/** Returns the path of a program, searched in the given folders, PATH and system folders. */
export function findProgram(name: string, folders: readonly string[] = []): string | undefined {
  const all = [...folders, ...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/bin']
  return all.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Lists the entries of a folder, the highest version first. Returns none if the folder does not exist. */
export function foldersIn(folder: string): string[] {
  if (!existsSync(folder)) return []
  const names = readdirSync(folder).sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  return names.map((name) => join(folder, name))
}

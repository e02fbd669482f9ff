import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, freePort, type ServerProcess, startProcess } from './server-process.ts'
import { missing } from './skips.ts'

/** A Redis or Valkey server for one test file. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** The folder in which the server saves its data. */
  readonly folder: string
  /** Starts the server again after `stop`, on the same port and without data. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Suspends the process, with its connections open. */
  freeze(): void
  /** Resumes the process. */
  thaw(): void
  /** Stops the server and removes its folder. */
  remove(): Promise<void>
}

/** The servers on which the same tests run. */
export const REDIS_PROGRAMS = ['redis-server', 'valkey-server'] as const
export type RedisProgram = (typeof REDIS_PROGRAMS)[number]

/** Returns whether the tests of a program must be skipped. Valkey is optional in CI, because Debian 12 has no package of it. */
export function missingRedis(program: RedisProgram = usualProgram()): boolean {
  return missing(program, findProgram(program) !== undefined, { optional: program === 'valkey-server' })
}

/** Returns the first of these servers that is installed on this machine. */
function usualProgram(): RedisProgram {
  return REDIS_PROGRAMS.find((program) => findProgram(program) !== undefined) ?? 'redis-server'
}

/** The server program to start, and its settings. */
export interface RedisSetUp {
  readonly program?: RedisProgram
  readonly settings?: readonly string[]
}

/** Starts a server on a free port. */
export async function startRedis({
  program: name = usualProgram(),
  settings = [],
}: RedisSetUp = {}): Promise<RedisServer> {
  const program = findProgram(name)
  if (program === undefined) throw new Error(`this machine has no ${name}`)
  const folder = await mkdtemp(join(tmpdir(), 'petstore-kit-redis-'))
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder, ...settings]
  let server: ServerProcess | undefined
  const start = async () => {
    server = await startProcess(program, args, /Ready to accept connections/)
  }
  const stop = async () => {
    await server?.stop('SIGKILL')
    server = undefined
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    if (server !== undefined) process.kill(server.pid, name)
  }
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    start,
    stop,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    async remove() {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

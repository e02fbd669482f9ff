import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, freePort, type ServerProcess, startProcess } from './server-process.ts'
import { missing } from './skips.ts'

/** A private Redis, or Valkey, which is called the same here. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** Where it would save to. */
  readonly folder: string
  /** Starts it again after a stop, on the same port; what it had counted is gone. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Lets it stand still, with its connections open. */
  freeze(): void
  /** Lets it go on from there. */
  thaw(): void
  /** Stops it and removes its folder. */
  remove(): Promise<void>
}

/** The makes that are tested alike, by the name of their program. */
export const REDIS_PROGRAMS = ['redis-server', 'valkey-server'] as const
export type RedisProgram = (typeof REDIS_PROGRAMS)[number]

/** Whether the tests on one make must be skipped. Valkey is no package of Debian 12: without it, CI says so and goes on. */
export function missingRedis(program: RedisProgram = usualProgram()): boolean {
  return missing(program, findProgram(program) !== undefined, { optional: program === 'valkey-server' })
}

/** The first that this machine has. */
function usualProgram(): RedisProgram {
  return REDIS_PROGRAMS.find((program) => findProgram(program) !== undefined) ?? 'redis-server'
}

/** What a private Redis is: of which make, and with which settings. */
export interface RedisSetUp {
  readonly program?: RedisProgram
  readonly settings?: readonly string[]
}

/** Starts a private Redis on a free port. */
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

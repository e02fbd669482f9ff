import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram, freePort, type ServerProcess, startProcess } from './server-process.ts'

/** A private Redis, or Valkey. */
export interface RedisServer {
  readonly url: string
  readonly port: number
  /** Where it would save to. */
  readonly folder: string
  /** Starts it again after a stop, on the same port; what it had counted is gone. */
  start(): Promise<void>
  stop(): Promise<void>
  /** Stops it and removes its folder. */
  remove(): Promise<void>
}

/** The server's program, or `undefined`. */
export function redisProgram(): string | undefined {
  return findProgram('redis-server') ?? findProgram('valkey-server')
}

/** Starts a private Redis on a free port. */
export async function startRedis(...settings: string[]): Promise<RedisServer> {
  const program = redisProgram()
  if (program === undefined) throw new Error('this machine has no Redis')
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
  await start()
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    folder,
    start,
    stop,
    async remove() {
      await stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

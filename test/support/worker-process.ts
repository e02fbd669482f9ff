import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'tsup'
import { showErrors } from './show-errors.ts'
import type { Burst, WorkerOptions } from './worker.ts'

/** A process that serves the API. */
export interface WorkerProcess {
  /** The address of the API. */
  readonly url: string
  /** Makes the process send itself concurrent requests. Returns the statuses. */
  burst(burst: Burst): Promise<number[]>
  /** Kills the process, as `kill -9` does. */
  kill(): Promise<void>
}

/** Builds a program of this folder from the current source. The output is inside the project, where imports find the packages. */
export async function buildWorker(name = 'worker'): Promise<{ program: string; remove(): Promise<void> }> {
  const cache = join(import.meta.dirname, '../../.cache')
  await mkdir(cache, { recursive: true })
  const outDir = await mkdtemp(join(cache, 'worker-'))
  const entry = { [name]: join(import.meta.dirname, `${name}.ts`) }
  const options = { format: 'esm', config: false, silent: true, skipNodeModulesBundle: true } as const
  await build({ ...options, entry, outDir, outExtension: () => ({ js: '.mjs' }) })
  return { program: join(outDir, `${name}.mjs`), remove: () => rm(outDir, { recursive: true }) }
}

/** Starts a worker, and waits until it serves. */
export async function startWorker(program: string, options: WorkerOptions): Promise<WorkerProcess> {
  const env = { ...process.env, WORKER: JSON.stringify(options) }
  const child = showErrors(fork(program, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }))
  const url = (await message(child)) as string
  return {
    url,
    burst(burst) {
      child.send(burst)
      return message(child) as Promise<number[]>
    },
    async kill() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function message(child: ChildProcess): Promise<unknown> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`a worker has ended with ${code}`)
  })
  const [value] = await Promise.race([once(child, 'message'), ended])
  return value
}

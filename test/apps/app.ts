import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { freePort } from '../support/server-process.ts'

interface Manifest {
  readonly scripts: { readonly build?: string; readonly start: string }
  readonly dependencies: Record<string, string>
}

/** An installed app that can be started. */
export interface App {
  /** Returns the installed version of a dependency. */
  versionOf(name: string): Promise<string>
  start(env: Readonly<Record<string, string>>): Promise<RunningApp>
}

export interface RunningApp {
  readonly port: number
  /** Sends SIGTERM and waits until the app has ended. After 20 seconds, it is killed. */
  stop(): Promise<void>
}

const START_TIMEOUT = 60_000
const STOP_TIMEOUT = 20_000

/** Copies an example app into a folder, installs its dependencies and the packed library, and builds the app. */
export async function installApp(example: string, folder: string, tarball: string): Promise<App> {
  await cp(example, folder, { recursive: true })
  const manifestFile = join(folder, 'package.json')
  const manifest: Manifest = JSON.parse(await readFile(manifestFile, 'utf8'))
  manifest.dependencies['petstore-kit'] = `file:${tarball}`
  await writeFile(manifestFile, JSON.stringify(manifest))
  const env = {
    ...process.env,
    NEXT_TELEMETRY_DISABLED: '1',
    NUXT_TELEMETRY_DISABLED: '1',
    ASTRO_TELEMETRY_DISABLED: '1',
  }
  const run = (...args: string[]) =>
    promisify(execFile)('npm', args, { cwd: folder, env, maxBuffer: 1e8 }).catch(({ stdout, stderr }) => {
      throw new Error(`npm ${args.join(' ')} failed:\n${stdout}${stderr}`)
    })
  await run('install', '--no-package-lock', '--no-audit', '--no-fund', '--prefer-offline')
  if (manifest.scripts.build) await run('run', 'build')
  return {
    versionOf: async (name) =>
      JSON.parse(await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8')).version,
    start: (appEnv) => startApp(folder, manifest.scripts.start, { ...env, NODE_ENV: 'production', ...appEnv }),
  }
}

/** Starts the app without npm, so that signals reach the server, and waits until it accepts connections. */
async function startApp(cwd: string, command: string, env: NodeJS.ProcessEnv): Promise<RunningApp> {
  const port = await freePort()
  const path = [join(cwd, 'node_modules/.bin'), process.env.PATH].join(delimiter)
  const child = spawn('sh', ['-c', `exec ${command}`], {
    cwd,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...env, PATH: path, PORT: String(port), HOST: '127.0.0.1' },
  })
  const deadline = AbortSignal.timeout(START_TIMEOUT)
  while (!(await accepts(port))) {
    if (child.exitCode === null && !deadline.aborted) continue
    kill(child, 'SIGKILL')
    throw new Error(`the app did not start: ${command}`)
  }
  return {
    port,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const exited = once(child, 'exit')
        child.kill('SIGTERM')
        const timer = setTimeout(() => kill(child, 'SIGKILL'), STOP_TIMEOUT)
        await exited
        clearTimeout(timer)
      }
      kill(child, 'SIGKILL')
    },
  }
}

/** Kills the app and the processes that it has started. Does nothing if they have ended. */
function kill({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    process.kill(-(pid as number), signal)
  } catch {}
}

/** Returns whether a server accepts connections on a port. */
export async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  const isOpen = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false)
  socket.destroy()
  if (!isOpen) await new Promise((resolve) => setTimeout(resolve, 100))
  return isOpen
}

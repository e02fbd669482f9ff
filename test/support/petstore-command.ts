import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { within } from './deadline.ts'

/** The path of the built command. */
export const COMMAND = join(import.meta.dirname, '../../dist/cli.js')

/** The outcome of a command. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command `petstore` to its end, with additional environment variables. */
export async function runPetstore(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  cwd?: string,
): Promise<Ended> {
  const { child, read } = start(args, env, cwd)
  const [code] = (await within(once(child, 'close'), 'the end of the command')) as [number | null]
  return { code, ...read() }
}

/** Starts `petstore serve` on a free port, and waits until it is ready. It is stopped when the test ends. */
export async function startPetstore(...flags: string[]) {
  const { child, read } = start(['serve', '--port', '0', ...flags])
  const closed = once(child, 'close')
  const line = (pattern: RegExp, stream: 'stdout' | 'stderr' = 'stdout') =>
    within(
      lineOf(child, stream, () => read()[stream], pattern),
      String(pattern),
    )
  const ready = /^Ctrl-C ends it\.$|^\{/
  // With `--log json`, `petstore serve` prints its welcome text to standard error.
  await Promise.any([line(ready), line(ready, 'stderr')])
  const text = read().stdout + read().stderr
  const keys: Record<string, string> = Object.fromEntries(
    [...text.matchAll(/^ {2}(\w+) +(pet_\w+)$/gm)].map(([, plan, token]) => [plan, token]),
  )
  return {
    child,
    line: (pattern: RegExp) => line(pattern),
    errorLine: (pattern: RegExp) => line(pattern, 'stderr'),
    keys,
    /** The address of the API, with the base path. */
    address: /^Pet store on (\S+), /m.exec(text)?.[1] as string,
    /** The curl commands in the welcome text. */
    curls: [...text.matchAll(/^ {2}(curl .+)$/gm)].map(([, command]) => command as string),
    bearer: (plan: string) => ({ headers: { authorization: `Bearer ${keys[plan]}` } }),
    output: () => read().stdout,
    exited: async () => {
      const [code] = (await within(closed, 'the end of the command')) as [number | null]
      return { code, stderr: read().stderr }
    },
  }
}

/** A running `petstore serve`. */
export interface RunningServer {
  readonly url: string
  /** Returns all output. */
  readonly output: () => string
  /** Sends a signal and waits for the end of the process. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

/** Starts `petstore serve` on a free port. The caller ends it. */
export async function startServer(...args: string[]): Promise<RunningServer> {
  const child = spawnCommand(['serve', '--port', '0', ...args])
  let output = ''
  const read = (chunk: Buffer) => {
    output += chunk
  }
  child.stdout.on('data', read)
  child.stderr.on('data', read)
  const ended = once(child, 'exit')
  const end = async (signal: 'SIGTERM' | 'SIGKILL') => {
    child.kill(signal)
    await ended
  }
  while (!output.includes('Ctrl-C')) {
    await Promise.race([once(child.stdout, 'data'), once(child.stderr, 'data'), ended])
    if (child.exitCode !== null) throw new Error(`petstore serve has ended: ${output}`)
  }
  return { url: /http:\S+\/v1/.exec(output)?.[0] ?? '', output: () => output, end }
}

/** Starts a `petstore` command without waiting for its end. */
export function startCommand(args: readonly string[], stdio: StdioOptions = 'ignore'): ChildProcess {
  return spawn(process.execPath, [COMMAND, ...args], { stdio })
}

/** Tests also run on Node 20, where the only driver that `npm ci` installs is an old one. */
export const SQLITE_WARNING = /^petstore: SQLite [\d.]+ may damage .*\n/m

function spawnCommand(args: readonly string[], env: Readonly<Record<string, string>> = {}, cwd?: string) {
  const all = { ...process.env, ...env }
  return spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'pipe'], env: all, cwd })
}

function start(args: readonly string[], env?: Readonly<Record<string, string>>, cwd?: string) {
  const child = spawnCommand(args, env, cwd)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, read: () => ({ stdout, stderr: stderr.replace(SQLITE_WARNING, '') }) }
}

/** Waits for the first whole line that matches. */
function lineOf(
  child: ChildProcess,
  stream: 'stdout' | 'stderr',
  output: () => string,
  pattern: RegExp,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = output()
        .split('\n')
        .slice(0, -1)
        .find((line) => pattern.test(line))
      if (found !== undefined) resolve(found)
    }
    child[stream]?.on('data', look)
    child.on('close', () => reject(new Error(`the command ended: ${output()}`)))
    look()
  })
}

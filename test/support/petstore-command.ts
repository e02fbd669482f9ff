import { type ChildProcess, execFile, type StdioOptions, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

const command = join(import.meta.dirname, '../../dist/cli.js')

/** The outcome of a command. */
export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a `petstore` command to its end. */
export function runCommand(args: readonly string[], env = process.env, cwd = process.cwd()): Promise<Outcome> {
  const options = { env, cwd }
  return new Promise((resolve) => {
    const child = execFile(process.execPath, [command, ...args], options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    )
  })
}

/** Starts a `petstore` command without waiting for its end. */
export function startCommand(args: readonly string[], stdio: StdioOptions = 'ignore'): ChildProcess {
  return spawn(process.execPath, [command, ...args], { stdio })
}

/** A running `petstore serve`. */
export interface RunningServer {
  readonly url: string
  /** Returns all output. */
  readonly output: () => string
  /** Sends a signal and waits for the end of the process. */
  end(signal: 'SIGTERM' | 'SIGKILL'): Promise<void>
}

/** Starts `petstore serve` on a free port. */
export async function startServer(...args: string[]): Promise<RunningServer> {
  const child = spawn(process.execPath, [command, 'serve', '--port', '0', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
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

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { within } from './deadline.ts'

const COMMAND = join(import.meta.dirname, '../../dist/cli.js')

/** How a command that ended has ended. */
export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs the command `petstore` to its end. */
export async function runPetstore(...args: string[]): Promise<Ended> {
  const { child, read } = start(args)
  const [code] = (await within(once(child, 'close'), 'the end of the command')) as [number | null]
  return { code, ...read() }
}

/** Starts `petstore serve` on a free port, and waits until it is ready. It is stopped when the test is over. */
export async function startPetstore(...flags: string[]) {
  const { child, read } = start(['serve', '--port', '0', ...flags])
  const closed = once(child, 'close')
  const line = (pattern: RegExp) =>
    within(
      lineOf(child, () => read().stdout, pattern),
      String(pattern),
    )
  await line(/^Ctrl-C ends it\.$/)
  const text = read().stdout
  const keys: Record<string, string> = Object.fromEntries(
    [...text.matchAll(/^ {2}(\w+) +(pet_\w+)$/gm)].map(([, plan, token]) => [plan, token]),
  )
  return {
    child,
    line,
    keys,
    /** The address of the API, base path included. */
    address: /^Pet store on (\S+), /m.exec(text)?.[1] as string,
    /** The curl lines to paste. */
    curls: [...text.matchAll(/^ {2}(curl .+)$/gm)].map(([, command]) => command as string),
    bearer: (plan: string) => ({ headers: { authorization: `Bearer ${keys[plan]}` } }),
    output: () => read().stdout,
    exited: async () => {
      const [code] = (await within(closed, 'the end of the command', 5_000)) as [number | null]
      return { code, stderr: read().stderr }
    },
  }
}

function start(args: readonly string[]) {
  const child = spawn(process.execPath, [COMMAND, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return { child, read: () => ({ stdout, stderr }) }
}

/** The first whole line that matches. */
function lineOf(child: ChildProcess, output: () => string, pattern: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      const found = output()
        .split('\n')
        .slice(0, -1)
        .find((line) => pattern.test(line))
      if (found !== undefined) resolve(found)
    }
    child.stdout?.on('data', look)
    child.on('close', () => reject(new Error(`the command ended: ${output()}`)))
    look()
  })
}

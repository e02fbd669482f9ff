import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

/** A host program that runs in a process of its own. */
export interface StartedHost {
  readonly port: number
  stop(): Promise<void>
}

/** Whether this machine has IPv6: then hosts listen on both, and IPv4 clients show in the mapped form. */
export const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

/** Starts a program, and waits for the line of JSON in which it names its port. */
export async function startProgram(command: string, args: readonly string[]): Promise<StartedHost> {
  const env = { ...process.env, HOST: hasIPv6 ? '::' : '127.0.0.1', NO_COLOR: '1' }
  const child = spawn(command, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const errors: string[] = []
  child.stderr.on('data', (text) => errors.push(String(text)))
  const port = await Promise.race([
    firstPort(child),
    once(child, 'exit').then(() =>
      Promise.reject(new Error(`${command} ${args.join(' ')} ended:\n${errors.join('')}`)),
    ),
  ])
  return { port, stop: () => stop(child) }
}

/** The path of a host program. */
export function hostProgram(name: string): string {
  return resolve(import.meta.dirname, 'hosts', name)
}

async function firstPort(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('no output')
  const lines = createInterface(child.stdout)
  for await (const line of lines) {
    const port = line.startsWith('{') ? JSON.parse(line).port : undefined
    if (port !== undefined) {
      child.stdout.resume()
      return port
    }
  }
  return new Promise(() => {})
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

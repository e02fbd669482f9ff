import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** A program that runs in a separate process. */
export interface Started<T> {
  /** The value that `read` has returned for a line of output. */
  readonly value: T
  stop(): Promise<void>
}

/** Whether this machine has IPv6. If it has, hosts listen on IPv4 and IPv6, and IPv4 clients have IPv4-mapped addresses. */
export const hasIPv6 = Object.values(networkInterfaces()).some((addresses) =>
  addresses?.some(({ address }) => address === '::1'),
)

/** Starts a program, and waits until `read` returns a value for a line of output. */
export async function startProgram<T>(
  [command = '', ...args]: readonly string[],
  read: (line: string) => T | undefined,
  { cwd, env = {} }: { cwd?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<Started<T>> {
  const all = { ...process.env, HOST: hasIPv6 ? '::' : '127.0.0.1', NO_COLOR: '1', ...env }
  const child = spawn(command, args, { cwd, env: all, stdio: ['ignore', 'pipe', 'pipe'] })
  const errors: string[] = []
  child.stderr.on('data', (text) => errors.push(String(text)))
  const end = async () => {
    await once(child, 'exit')
    throw new Error(`${command} ${args.join(' ')} ended:\n${errors.join('')}`)
  }
  return { value: await Promise.race([firstLine(child.stdout, read), end()]), stop: () => stop(child) }
}

/** Reads the port from a line of JSON such as `{"port":4711}`. */
export function portOf(line: string): number | undefined {
  return line.startsWith('{') ? JSON.parse(line).port : undefined
}

/** The path of a host program. */
export function hostProgram(name: string): string {
  return resolve(import.meta.dirname, 'hosts', name)
}

async function firstLine<T>(output: Readable, read: (line: string) => T | undefined): Promise<T> {
  const lines = createInterface(output)
  return new Promise((resolve) => {
    lines.on('line', (line) => {
      const value = read(line)
      if (value !== undefined) resolve(value)
    })
  })
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  // After SIGKILL, Miniflare could not stop its workerd.
  child.kill('SIGTERM')
  await exited
}

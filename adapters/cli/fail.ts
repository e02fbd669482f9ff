import { PetStoreError } from '../../src/index.ts'

/** Ends the command with one clear line. What commander has printed itself, such as its help, is no failure. */
export function fail(error: unknown): void {
  const { code, exitCode, message } = error as { code?: string; exitCode?: number; message?: string }
  if (exitCode === 0) return
  process.exitCode = 1
  // Whoever has closed the pipe does not want to hear of it.
  if (code === 'commander.help' || code === 'EPIPE') return
  console.error(`petstore: ${explain(error, code, String(message))}`)
}

function explain(error: unknown, code: string | undefined, message: string): string {
  const { address, port } = error as { address?: string; port?: number }
  if (code === 'EADDRINUSE')
    return `port ${port} on ${address} is taken: choose another with --port, or 0 for any that is free`
  if (code === 'EACCES')
    return `port ${port} on ${address} needs rights that this user does not have: choose another with --port`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND' || code === 'EAI_AGAIN')
    return `--host: this machine has no such address (${message})`
  if (error instanceof PetStoreError) return message.replace(/^option basePath/, '--base-path')
  const [first, ...others] = message.replace(/^error: /, '').split('\n')
  return [first, ...others.filter((line) => line.startsWith('(Did you mean'))].join(' ')
}

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { onDemand } from './on-demand.ts'

/** A newer Node, from the registry; `undefined` where it cannot be had. */
export async function nodeBinary(version: string): Promise<string | undefined> {
  const name = `node-${process.platform}-${process.arch}`
  return found(await onDemand(`${name}@${version}`), name, 'bin/node')
}

/** Bun, from the registry; `undefined` where it cannot be had. Its package moves the binary into place. */
export async function bunBinary(version: string): Promise<string | undefined> {
  return found(await onDemand(`bun@${version}`), 'bun', 'bin/bun.exe')
}

function found(folder: string | undefined, ...path: string[]): string | undefined {
  const file = folder && join(folder, 'node_modules', ...path)
  return file && existsSync(file) ? file : undefined
}

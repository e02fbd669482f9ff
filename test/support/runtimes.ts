import { spawnSync } from 'node:child_process'
import { chmodSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { onDemand } from './on-demand.ts'

/** The exact versions on which the tests run. */
export const versions = {
  node20: '20.20.2',
  node22: '22.23.3',
  node24: '24.21.0',
  nodeNewest: '26.10.0',
  bun: '1.4.5',
  deno: '2.9.6',
  workerd: '1.20261117.1',
}

/** Returns the binary of a Node version, or `undefined` if it cannot be installed. */
export async function nodeBinary(version: string): Promise<string | undefined> {
  if (process.versions.node === version) return process.execPath
  const name = `node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`
  return findBinary(await onDemand(`${name}@${version}`), /^node$/)
}

/** Returns the binary of Bun, Deno or workerd, or `undefined` if it cannot be installed. */
export async function runtimeBinary(name: 'bun' | 'deno' | 'workerd'): Promise<string | undefined> {
  return findBinary(await onDemand(`${name}@${versions[name]}`), new RegExp(`^${name}(?:\\.exe)?$`))
}

/**
 * Returns the first binary in a folder that runs. Packages for other C libraries contain binaries that do not run here. Some
 * packages contain a placeholder, which an install script would replace. A placeholder does not run either.
 */
function findBinary(folder: string | undefined, name: RegExp): string | undefined {
  if (folder === undefined) return undefined
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const found = entries.filter((entry) => entry.isFile() && name.test(entry.name))
  return found
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('/.bin/'))
    .find(runs)
}

function runs(binary: string): boolean {
  chmodSync(binary, 0o755)
  return spawnSync(binary, ['--version']).status === 0
}

import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { arch, cpus, platform, release, totalmem } from 'node:os'
import { canPin, runtimes } from './processes.mjs'

const bench = new URL('..', import.meta.url)

/** Describes the machine and the versions of everything that is measured. */
export function machine() {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', bench), 'utf8'))
  const processors = cpus()
  return {
    processor: `${processors.length} x ${processors[0]?.model.trim()}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    system: `${platform()} ${release()} ${arch()}`,
    pinned: canPin,
    node: process.versions.node,
    commit: commitOf(bench),
    versions: dependencies,
    bun: versionOf(runtimes.bun),
    deno: versionOf(runtimes.deno.slice(0, 1)),
  }
}

const versionOf = ([program]) => /\d+\.\d+\.\d+/.exec(execFileSync(program, ['--version'], { encoding: 'utf8' }))?.[0]

/** Returns the short name of the commit that is checked out in a folder. */
export function commitOf(folder) {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8', cwd: folder }).trim()
  } catch {
    return 'unknown'
  }
}

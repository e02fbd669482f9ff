import { randomUUID } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { leftoverProcesses, RUN_MARK } from './leftover-processes.ts'

const cache = join(import.meta.dirname, '../../.cache')

/**
 * Prepares a test run that leaves nothing outside of this repository. At its end, prints what was skipped and why. The run fails
 * if a process that a test started is still alive then.
 */
export default function setup(project: TestProject): () => Promise<void> {
  const mark = randomUUID()
  process.env[RUN_MARK] = mark
  const folder = useFolders()
  const skipsFile = join(folder, 'skips')
  writeFileSync(skipsFile, '')
  const runsAll = project.vitest.projects.some(({ name }) => name === 'integration')
  project.provide('skipsFile', skipsFile)
  project.provide('runsAll', runsAll)
  return async () => {
    const skips = new Set(readFileSync(skipsFile, 'utf8').split('\n').filter(Boolean))
    for (const need of skips) console.log(`Skipped: tests that need ${need}, which this machine does not have.`)
    const left = await leftoverProcesses(mark)
    rmSync(folder, { recursive: true })
    if (left.length === 0) return
    // vitest only prints an error of a teardown: without the exit code, the run would pass.
    process.exitCode = 1
    throw new Error(`the tests have left processes running:\n${left.join('\n')}`)
  }
}

/**
 * Points this process, and all that it starts, to a new folder for temporary files, and to a home directory in `.cache`, where
 * npm, Deno, Bun, Go, wrangler and Chromium cache. Returns the temporary folder. It is in the system's folder because the
 * path of a UNIX socket has a limit of about 100 characters, and because PostgreSQL may run as another user.
 */
function useFolders(): string {
  const temporary = mkdtempSync(join(tmpdir(), 'petstore-kit-'))
  chmodSync(temporary, 0o755)
  const home = join(cache, 'home')
  mkdirSync(home, { recursive: true })
  const npmSettings = process.env.npm_config_userconfig ?? join(homedir(), '.npmrc')
  Object.assign(process.env, {
    TMPDIR: temporary,
    TEMP: temporary,
    HOME: home,
    USERPROFILE: home,
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local/share'),
    npm_config_cache: join(home, '.npm'),
    npm_config_userconfig: npmSettings,
  })
  return temporary
}

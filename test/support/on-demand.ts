import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'

const cache = join(import.meta.dirname, '../../.cache/on-demand')
const QUIETLY = ['--no-audit', '--no-fund', '--no-package-lock']
// By default, npm would try for minutes to download each package on a machine without a network.
const PATIENCE = [
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
  '--fetch-timeout=10000',
]
const underWay = new Map<string, Promise<string | undefined>>()

/**
 * Installs packages that only some tests need (other runtimes, compiled drivers) once, in a separate folder, so that `npm ci`
 * stays small. Returns the folder, or `undefined` if the packages cannot be installed. Each test run tries only once, and
 * `npm test` never, because it needs nothing but Node.
 *
 * @param packages - exact versions, such as `bun@1.4.5`
 */
export function onDemand(...packages: string[]): Promise<string | undefined> {
  const name = packages.join('+').replaceAll(/[^\w.@+-]/g, '_')
  const installation = underWay.get(name) ?? install(name, packages)
  underWay.set(name, installation)
  return installation
}

/** Installs into a temporary folder, then renames it. An interrupted or concurrent installation leaves no incomplete folder. */
async function install(name: string, packages: readonly string[]): Promise<string | undefined> {
  const folder = join(cache, name)
  const failed = join(dirname(inject('skipsFile')), name)
  if (existsSync(folder)) return folder
  if (!inject('runsAll') || existsSync(failed)) return undefined
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, '.draft-'))
  try {
    // A compiled driver is built by its install script. npm runs this script only if `allowScripts` lists the package.
    const allowScripts = Object.fromEntries(packages.map((name) => [name.replace(/@[^@]*$/, ''), true]))
    await writeFile(join(draft, 'package.json'), JSON.stringify({ private: true, allowScripts }))
    await promisify(execFile)('npm', ['install', ...QUIETLY, ...PATIENCE, ...packages], {
      cwd: draft,
    })
    // PostgreSQL and PgBouncer run as an unprivileged user, who needs access to the folder.
    await chmod(draft, 0o755)
    await rename(draft, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error
    })
    return folder
  } catch (error) {
    console.error(
      `cannot install ${packages.join(' ')}: ${error instanceof Error ? error.message.split('\n')[0] : error}`,
    )
    await writeFile(failed, '')
    return undefined
  } finally {
    await rm(draft, { recursive: true, force: true })
  }
}

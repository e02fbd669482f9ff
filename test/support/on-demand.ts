import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { inject } from 'vitest'

const cache = join(import.meta.dirname, '../../node_modules/.cache/on-demand')
const QUIETLY = ['--no-audit', '--no-fund', '--no-package-lock']
// A machine without a network is not to wait minutes for each of them, also where nobody says that there is none.
const PATIENCE = [
  '--fetch-retries=2',
  '--fetch-retry-mintimeout=1000',
  '--fetch-retry-maxtimeout=5000',
  '--fetch-timeout=10000',
]
const underWay = new Map<string, Promise<string | undefined>>()

/**
 * Installs packages from the registry that only some tests need (other runtimes, drivers that must be compiled), once, in a
 * folder of their own, so that `npm ci` stays small. Gives the folder, or `undefined` where they cannot be installed: what
 * one file of tests has found so, the others of the run do not try again.
 *
 * @param packages - exact versions, such as `bun@1.4.5`
 */
export function onDemand(...packages: string[]): Promise<string | undefined> {
  const name = packages.join('+').replaceAll(/[^\w.@+-]/g, '_')
  const installation = underWay.get(name) ?? install(name, packages)
  underWay.set(name, installation)
  return installation
}

/** Whole installations are moved into place, so that an interrupted one, or two at once, do no harm. */
async function install(name: string, packages: readonly string[]): Promise<string | undefined> {
  const folder = join(cache, name)
  const failed = join(dirname(inject('skipsFile')), name)
  if (existsSync(folder)) return folder
  if (existsSync(failed)) return undefined
  await mkdir(cache, { recursive: true })
  const draft = await mkdtemp(join(cache, '.draft-'))
  try {
    // A driver is compiled by the script of its package, which npm runs only where it is allowed to.
    const allowScripts = Object.fromEntries(packages.map((name) => [name.replace(/@[^@]*$/, ''), true]))
    await writeFile(join(draft, 'package.json'), JSON.stringify({ private: true, allowScripts }))
    await promisify(execFile)('npm', ['install', ...QUIETLY, ...PATIENCE, ...packages], {
      cwd: draft,
    })
    // A server that refuses to run as root runs as somebody else, who must be able to get in.
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

import { execFileSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type App, installApp } from './app.ts'
import { type AppHost, hosts } from './hosts.ts'
import { rules, TOKEN, targetOf } from './rules.ts'

const DOCUMENT = 'docs/mounting.md'
const [START, END] = ['<!-- npm run examples writes this table -->', '<!-- end of the table -->']

const examples = resolve('examples/apps')
const chosen = process.argv.slice(2)
const unknown = (await readdir(examples)).filter((folder) => !(folder in hosts))
if (unknown.length > 0) throw new Error(`test/apps/hosts.ts does not have: ${unknown.join(', ')}`)

const work = await mkdtemp(join(tmpdir(), 'petstore-apps-'))
// Delete the folder also after Ctrl-C, and after an error of this program.
process.once('exit', () => rmSync(work, { recursive: true, force: true }))
process.once('SIGINT', () => process.exit(1))
execFileSync('npm', ['pack', '--pack-destination', work], { stdio: ['ignore', 'ignore', 'inherit'] })
const tarball = join(work, (await readdir(work))[0] ?? '')

const failures: string[] = []
for (const [name, host] of Object.entries(hosts)) {
  if (chosen.length > 0 && !chosen.includes(name)) continue
  console.log(`# ${host.title}`)
  const folder = join(work, name)
  try {
    const app = await installApp(join(examples, name), folder, tarball)
    await writeRow(name, host, await app.versionOf(host.framework), await failedRules(app, host))
  } catch (error) {
    failures.push(`${name}: ${error instanceof Error ? error.message : error}`)
    console.error(failures.at(-1))
  }
  await rm(folder, { recursive: true, force: true })
}
if (failures.length > 0) console.error(`\n${failures.length} failed:\n${failures.join('\n')}`)
process.exitCode = failures.length > 0 ? 1 : 0

/** Returns the titles of the tests that fail. Throws if these are not exactly the tests that `hosts.ts` names. */
async function failedRules(app: App, { limits = {} }: AppHost): Promise<string[]> {
  const running = await app.start({ PETSTORE_KEY: TOKEN })
  const failed: string[] = []
  const surprises: string[] = []
  try {
    for (const rule of rules) {
      const error = await rule.check(targetOf(running)).then(() => undefined, String)
      if (error !== undefined) failed.push(rule.title)
      if ((error !== undefined) === rule.title in limits) continue
      surprises.push(`${rule.title}: ${error ?? `passes, although hosts.ts says: ${limits[rule.title]}`}`)
    }
  } finally {
    await running.stop()
  }
  if (surprises.length > 0)
    throw new Error(`the failing tests are not those that hosts.ts names:\n  ${surprises.join('\n  ')}`)
  return failed
}

/** Writes the line of a host into the table of `docs/mounting.md`. */
async function writeRow(
  folder: string,
  { title, limits = {} }: AppHost,
  version: string,
  failed: readonly string[],
): Promise<void> {
  const reasons = [...new Set(failed.map((title) => limits[title]))].join('; ') || 'none'
  const passed = `${rules.length - failed.length} of ${rules.length}`
  const row = `| [${title}](../examples/apps/${folder}) | ${version} | ${passed} | ${reasons} |`
  const text = await readFile(DOCUMENT, 'utf8')
  const [before = '', rest = ''] = text.split(START)
  const [table = '', after = ''] = rest.split(END)
  const [header = '', line = '', ...others] = table.trim().split('\n')
  const kept = others.filter((other) => !other.includes(`(../examples/apps/${folder})`))
  const lines = [header, line, ...[...kept, row].sort((a, b) => a.localeCompare(b))]
  await writeFile(DOCUMENT, `${before}${START}\n\n${lines.join('\n')}\n\n${END}${after}`)
  console.log(row)
}

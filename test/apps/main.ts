import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type App, installApp } from './app.ts'
import { type AppHost, hosts } from './hosts.ts'
import { rows, TOKEN, targetOf } from './rows.ts'

const DOCUMENT = 'docs/mounting.md'
const [START, END] = ['<!-- npm run examples writes this table -->', '<!-- end of the table -->']

const examples = resolve('examples/apps')
const chosen = process.argv.slice(2)
const unknown = (await readdir(examples)).filter((folder) => !(folder in hosts))
if (unknown.length > 0) throw new Error(`test/apps/hosts.ts does not have: ${unknown.join(', ')}`)

const packed = await mkdtemp(join(tmpdir(), 'petstore-pack-'))
execFileSync('npm', ['pack', '--pack-destination', packed], { stdio: ['ignore', 'ignore', 'inherit'] })
const tarball = join(packed, (await readdir(packed))[0] ?? '')

let isExpected = true
for (const [folder, host] of Object.entries(hosts)) {
  if (chosen.length > 0 && !chosen.includes(folder)) continue
  console.log(`# ${host.title}`)
  const app = await installApp(join(examples, folder), tarball)
  try {
    const failed = await failedRows(app, host)
    if (failed === undefined) isExpected = false
    else await writeRow(folder, host, await app.versionOf(host.framework), failed)
  } finally {
    await app.remove()
  }
}
await rm(packed, { recursive: true })
process.exitCode = isExpected ? 0 : 1

/** Returns the rows that fail, or `undefined` if these are not the rows that `hosts.ts` names. */
async function failedRows(app: App, { limits = {} }: AppHost): Promise<string[] | undefined> {
  const running = await app.start({ PETSTORE_KEY: TOKEN })
  const failed: string[] = []
  let hasSurprise = false
  try {
    for (const row of rows) {
      const error = await row.check(targetOf(running)).then(() => undefined, String)
      if (error !== undefined) failed.push(row.title)
      if ((error !== undefined) === row.title in limits) continue
      hasSurprise = true
      console.error(`  ${row.title}: ${error ?? `passes, although hosts.ts says: ${limits[row.title]}`}`)
    }
  } finally {
    await running.stop()
  }
  return hasSurprise ? undefined : failed
}

/** Writes the row of a host into the table. */
async function writeRow(
  folder: string,
  { title, limits = {} }: AppHost,
  version: string,
  failed: readonly string[],
): Promise<void> {
  const reasons = [...new Set(failed.map((row) => limits[row]))].join('; ') || 'none'
  const passed = `${rows.length - failed.length} of ${rows.length}`
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

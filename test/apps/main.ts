import { execFileSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { installApp } from './app.ts'
import { hosts } from './hosts.ts'
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

let unexpected = 0
for (const [folder, { title, framework, limits = {} }] of Object.entries(hosts)) {
  if (chosen.length > 0 && !chosen.includes(folder)) continue
  console.log(`# ${title}`)
  const app = await installApp(join(examples, folder), tarball)
  const running = await app.start({ PETSTORE_KEY: TOKEN })
  const failed: string[] = []
  try {
    for (const row of rows) {
      const error = await row.check(targetOf(running)).then(() => undefined, String)
      if (error !== undefined) failed.push(row.title)
      if ((error === undefined) === !(row.title in limits)) continue
      unexpected += 1
      console.error(`  ${row.title}: ${error ?? `passes, although hosts.ts says: ${limits[row.title]}`}`)
    }
  } finally {
    await running.stop()
  }
  const reasons = [...new Set(failed.map((row) => limits[row] ?? row))].join('; ')
  await writeRow(`| [${title}](../examples/apps/${folder}) `, [
    await app.versionOf(framework),
    `${rows.length - failed.length} of ${rows.length}`,
    reasons || 'none',
  ])
  await app.remove()
}
await rm(packed, { recursive: true })
process.exitCode = unexpected === 0 ? 0 : 1

/** Writes the row of a host into the table. */
async function writeRow(start: string, cells: readonly string[]): Promise<void> {
  const text = await readFile(DOCUMENT, 'utf8')
  const [before = '', rest = ''] = text.split(START)
  const [table = '', after = ''] = rest.split(END)
  const row = `${start}| ${cells.join(' | ')} |`
  const [header = '', line = '', ...others] = table.trim().split('\n')
  const kept = others.filter((other) => !other.startsWith(start))
  const lines = [header, line, ...[...kept, row].sort((a, b) => a.localeCompare(b))]
  await writeFile(DOCUMENT, `${before}${START}\n\n${lines.join('\n')}\n\n${END}${after}`)
  console.log(row)
}

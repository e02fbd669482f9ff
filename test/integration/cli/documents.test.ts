import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { runPetstore } from '../../support/petstore-command.ts'
import { findProgram, freePort } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

const root = resolve(import.meta.dirname, '../../..')
const read = (document: string) => readFileSync(join(root, 'docs', document), 'utf8')
const scripts = ['command.md', 'testing.md'].flatMap((document) =>
  [...read(document).matchAll(/^```bash\n([\s\S]*?)^```$/gm)].map(([, script = '']) => script),
)

test('docs/command.md names every flag of serve with its environment variable', async () => {
  const { stdout } = await runPetstore(['serve', '--help'])
  const variables = [...stdout.matchAll(/PETSTORE_\w+/g)].map(([variable]) => variable)
  expect(variables.length).toBeGreaterThan(0)
  for (const variable of variables) {
    const flag = variable.replace('PETSTORE_', '--').replaceAll('_', '-').toLowerCase()
    const row = read('command.md')
      .split('\n')
      .find((line) => line.startsWith('| `') && line.includes(`\`${variable}\``))
    expect(row, variable).toMatch(new RegExp(`^\\| .*${flag}[ \`]`))
  }
})

describe.skipIf(missing('curl', findProgram('curl') !== undefined))(
  'the scripts of the documents about the command',
  () => {
    test.each(scripts.map((script) => [script.split('\n')[0], script]))(
      'a script prints the documented statuses: %s',
      async (_, script) => {
        const { folder, remove } = temporaryFolder()
        onTestFinished(() => void remove())
        const [port, controlPort] = [await freePort(), await freePort()]
        const command = `#!/bin/sh\nexec '${process.execPath}' '${join(root, 'dist/cli.js')}' "$@"\n`
        writeFileSync(join(folder, 'petstore'), command, { mode: 0o755 })
        const ours = script.replaceAll(/300[01]/g, (documented) => String(documented === '3000' ? port : controlPort))
        const child = spawn('bash', ['-euc', `trap 'kill $(jobs -p) 2> /dev/null || true' EXIT\n${ours}`], {
          cwd: folder,
          env: { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` },
          stdio: ['ignore', 'pipe', 'pipe'],
        })
        let output = ''
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
        const [code] = await once(child, 'close')
        expect({ code, output }).toMatchObject({ code: 0 })
        const statuses = [...script.matchAll(/# ((?:\d{3} ?)+)$/gm)].flatMap(([, list = '']) => list.split(' '))
        expect(output.match(/^\d{3}$/gm) ?? []).toEqual(statuses)
      },
    )
  },
)

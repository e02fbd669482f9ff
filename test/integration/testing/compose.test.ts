import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { COMMAND } from '../../support/petstore-command.ts'
import { findProgram, startProcess } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

const root = join(import.meta.dirname, '../../..')

/** The parts of the compose file that the test reads. */
interface Compose {
  readonly services: {
    readonly pets: { readonly command: string; readonly environment: Readonly<Record<string, string | number>> }
    readonly test: { readonly command: string }
  }
}

const python = findProgram('python3')
const noPython = missing('Python', python !== undefined, { optional: true })

test.skipIf(noPython)('the commands of the compose file in docs/command.md work together', async () => {
  const document = await readFile(join(root, 'docs/command.md'), 'utf8')
  const [, yaml = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(document) ?? []
  const { pets, test } = (parse(yaml) as Compose).services
  const [, flags = ''] = /exec petstore (.*)'$/.exec(pets.command) ?? []
  const env = { ...process.env, ...pets.environment, PETSTORE_PORT: '0', PETSTORE_CONTROL_PORT: '0' }
  const server = await startProcess(process.execPath, [COMMAND, ...flags.split(' ')], /^Ctrl-C/, { env } as never)
  onTestFinished(() => server.stop('SIGKILL'))
  const [, port = ''] = /Pet store on http:\/\/localhost:(\d+)\//.exec(server.output()) ?? []
  const [, controlPort = ''] = /Control API on http:\/\/localhost:(\d+)\//.exec(server.output()) ?? []
  // Containers have the address of the service `pets`, which this machine does not know.
  const command = test.command
    .replace('/control.py', join(root, 'examples/testing/control.py'))
    .replace('pets:3000', `127.0.0.1:${port}`)
    .replace('pets:3001', `127.0.0.1:${controlPort}`)
  const { stdout, stderr } = await promisify(execFile)(python ?? '', command.split(' ').slice(1))
  expect(stdout + stderr).toMatch(/^OK$/m)
})

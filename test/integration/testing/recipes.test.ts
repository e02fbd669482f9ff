import { type ExecFileOptions, execFile } from 'node:child_process'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { serve } from '../../../adapters/hosts/node/index.ts'
import { createTestPetStore, manualClock } from '../../../src/testing/index.ts'
import { chromiumPath } from '../../support/chromium.ts'
import { onDemand } from '../../support/on-demand.ts'
import { startPetstore, startServer } from '../../support/petstore-command.ts'
import { runtimeBinary } from '../../support/runtimes.ts'
import { findProgram, freePort } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

const root = join(import.meta.dirname, '../../..')
const recipe = (name: string) => join(root, 'examples/testing', name)

/** The part of a GitHub Actions workflow that the tests read. */
interface Workflow {
  readonly jobs: { readonly test: { readonly steps: readonly { readonly run?: string }[] } }
}

/** Runs a recipe to its end and returns its output. If the recipe fails, the error contains the output. */
async function run(program: string, args: readonly string[], env: ExecFileOptions['env'] = {}): Promise<string> {
  const options = { cwd: root, env: { ...process.env, ...env } }
  const { stdout, stderr } = await promisify(execFile)(program, args, options)
  return stdout + stderr
}

const jest = await onDemand('jest@30.5.2')

describe('a recipe for a test runner passes', () => {
  test.skipIf(missing('Jest', jest !== undefined)).each(['jest', 'jest-suites'])(
    'the recipe for Jest with CommonJS passes: %s',
    async (name) => {
      const program = join(String(jest), 'node_modules/jest/bin/jest.js')
      const args = ['--rootDir', recipe(''), '--testMatch', `**/${name}.test.cjs`, '--no-cache']
      expect(await run(process.execPath, [program, ...args])).toContain('Test Suites: 1 passed')
    },
  )

  test.each(['msw.test.mjs'])('the recipe for node:test passes: %s', async (name) => {
    expect(await run(process.execPath, ['--test', '--test-reporter=tap', recipe(name)])).toMatch(/^# pass 1$/m)
  })

  test.skipIf(missing('Chromium', chromiumPath !== undefined))('the recipe for Playwright passes', async () => {
    const args = ['--test', '--test-reporter=tap', recipe('playwright.test.mjs')]
    expect(await run(process.execPath, args, { CHROMIUM: chromiumPath })).toMatch(/^# pass 1$/m)
  })
})

const bun = await runtimeBinary('bun')
test.skipIf(missing('Bun', bun !== undefined))('the recipe for bun test passes', async () => {
  expect(await run(bun ?? '', ['test', recipe('bun.test.mjs')])).toContain('1 pass')
})

const deno = await runtimeBinary('deno')
test.skipIf(missing('Deno', deno !== undefined))('the recipe for deno test passes', async () => {
  expect(await run(deno ?? '', ['test', '--no-check', recipe('deno.test.mjs')], { NO_COLOR: '1' })).toContain(
    '1 passed',
  )
})

describe('a program in another language', () => {
  const python = findProgram('python3')
  const noPython = missing('Python', python !== undefined, { optional: true })

  test.skipIf(noPython)('the workflow that tests a client in Python passes', async () => {
    const workflow = parse(await readFile(recipe('client-in-python.yml'), 'utf8')) as Workflow
    const folder = await mkdtemp(join(tmpdir(), 'petstore-workflow-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    await copyFile(recipe('control.py'), join(folder, 'control.py'))
    const ports = { 3000: await freePort(), 3001: await freePort() }
    const steps = workflow.jobs.test.steps.flatMap(({ run = '' }) => (/^(?:petstore|python3) /.test(run) ? [run] : []))
    expect(steps.length).toBe(2)
    // Without `exec`, `$!` would be the shell that runs the function, and killing it would leave the server running.
    const command = `petstore() { exec "${process.execPath}" "${join(root, 'dist/cli.js')}" "$@"; }`
    const script = [command, "trap 'kill $!' EXIT", ...steps].join('\n')
    const text = script.replaceAll(/\b(3000|3001)\b/g, (port) => String(ports[port as unknown as keyof typeof ports]))
    const { stdout, stderr } = await promisify(execFile)('bash', ['-ec', text], { cwd: folder })
    expect(stdout + stderr).toMatch(/^OK$/m)
  })

  const go = findProgram('go', ['/usr/local/go/bin'])
  const programs = [
    { name: 'Python', program: python, args: [recipe('client.py')], steering: [recipe('control.py')] },
    { name: 'Go', program: go, args: ['run', recipe('client.go')], steering: ['run', recipe('control.go')] },
  ]

  for (const { name, program, args, steering } of programs) {
    const options = { skip: missing(name, program !== undefined, { optional: true }) }

    test(`a ${name} program lists every animal with exact ids`, options, async () => {
      const server = await startServer()
      onTestFinished(() => server.end('SIGKILL'))
      const [token = ''] = /pet_\w+/.exec(server.output()) ?? []
      const lines = (await run(program ?? '', [...args, server.url, token])).split('\n')
      expect([lines.length, lines.slice(-2)]).toEqual([10, ['Rex 9007199254740993', '']])
    })

    test(`a ${name} program waits as long as Retry-After says`, options, async () => {
      const clock = manualClock(Date.UTC(2030, 0, 1, 0, 0, 59, 500))
      const { petStore, token, requests } = await createTestPetStore({
        clock,
        plans: { free: { perMinute: 2, perDay: 100 } },
        pets: [{ name: 'Ada' }],
        onResponse: ({ status }) => void (status === 429 && clock.advance(1_000)),
      })
      const server = await serve(petStore, { port: 0 })
      onTestFinished(() => server.close())
      expect(await run(program ?? '', [...args, `${server.url}/v1`, token])).toBe('Ada 1\nRex 9007199254740993\n')
      expect(requests.map(({ response }) => response?.status)).toEqual([201, 200, 429, 200])
    })

    test(`a ${name} program steers petstore serve through its control API`, options, async () => {
      const flags = ['--control-port', '0', '--json', '--key', 'pro=my-token', '--plan-limits', 'pro=2/100']
      const { url, control } = JSON.parse((await startPetstore(...flags)).output())
      expect(await run(program ?? '', [...steering, url, control, 'my-token'])).toMatch(/^OK$/m)
    })
  }
})

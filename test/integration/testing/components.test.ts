import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, onTestFinished, test } from 'vitest'
import { onDemand } from '../../support/on-demand.ts'
import { nodeBinary, versions } from '../../support/runtimes.ts'
import { missing } from '../../support/skips.ts'

const root = join(import.meta.dirname, '../../..')
const recipe = (name: string) => join(root, 'examples/testing', name)
const program = (name: string) => join(import.meta.dirname, 'programs', name)

/** Copies a test into a package that has petstore-kit and the given packages, as the project of a user has them. */
async function projectWith(packages: string, file: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'petstore-components-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const modules = join(folder, 'node_modules')
  await mkdir(modules)
  for (const name of await readdir(join(packages, 'node_modules')))
    await symlink(join(packages, 'node_modules', name), join(modules, name))
  await symlink(root, join(modules, 'petstore-kit'))
  await writeFile(join(folder, 'package.json'), '{ "private": true }')
  await copyFile(file, join(folder, basename(file)))
  return folder
}

/** Runs a program to its end and returns its output. If it fails, the error contains the output. */
async function run(node: string, cwd: string, ...args: readonly string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: undefined, NO_COLOR: '1', FORCE_COLOR: undefined }
  const { stdout, stderr } = await promisify(execFile)(node, args, { cwd, env })
  return stdout + stderr
}

describe.each([
  { jest: '29.7.0', fixed: '0.0.9' },
  { jest: '30.5.2', fixed: '0.0.11' },
])('Jest $jest', async ({ jest, fixed }) => {
  const packages = [`jest@${jest}`, `jest-environment-jsdom@${jest}`, `jest-fixed-jsdom@${fixed}`]
  const installed = (await onDemand(...packages)) ?? ''
  const skip = missing(`Jest ${jest} with jsdom`, installed !== '')

  test.each([
    ['jsdom', program('plain-jsdom.test.cjs'), 3],
    ['jest-fixed-jsdom', recipe('component.test.cjs'), 2],
  ])('a test passes in the environment %s', { skip }, async (environment, file, count) => {
    const folder = await projectWith(installed, file)
    const args = [`--env=${environment}`, '--rootDir', folder, '--testMatch', '**/*.test.cjs', '--no-cache']
    expect(await run(process.execPath, folder, 'node_modules/jest/bin/jest.js', ...args)).toContain(
      `Tests:       ${count} passed, ${count} total`,
    )
  })
})

describe('vitest 3 on Node 24, where fetch rejects the signals of jsdom', async () => {
  const installed = (await onDemand('vitest@3.2.7', 'jsdom@26.1.0', 'happy-dom@18.0.1')) ?? ''
  const node = (await nodeBinary(versions.node24)) ?? ''
  const skip = [missing('vitest 3 with jsdom', installed !== ''), missing('Node 24', node !== '')].includes(true)

  test.each([
    ['jsdom', recipe('component.test.mjs'), 2],
    ['happy-dom', recipe('component.test.mjs'), 2],
    ['jsdom', program('client-in-jsdom.test.mjs'), 5],
    ['happy-dom', program('client-in-jsdom.test.mjs'), 5],
  ])('a test passes in %s', { skip }, async (environment, file, count) => {
    const folder = await projectWith(installed, file)
    const args = ['run', '--environment', environment]
    expect(await run(node, folder, 'node_modules/vitest/vitest.mjs', ...args)).toMatch(
      new RegExp(`Tests +${count} passed \\(${count}\\)`),
    )
  })
})

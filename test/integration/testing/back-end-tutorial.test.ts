import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Clock, ManagedKeyStore, PetStorage, QuotaStore } from '../../../src/index.ts'
import { keyStoreContract, quotaContract, storageContract, type TestRunner } from '../../../src/testing/index.ts'
import { fakeMongoClient } from '../../support/fake-mongodb.ts'

/**
 * Runs the contract suites on the back end of docs/write-a-back-end.md, and once for each mistake in its table. The back end
 * imports the package from `dist`.
 */

interface Ports {
  readonly storage: PetStorage
  readonly keyStore: ManagedKeyStore
  readonly quota: QuotaStore
}
type Create = (client: unknown, clock?: Clock) => Ports

const root = resolve(import.meta.dirname, '../../..')
const code = readFileSync(join(root, 'examples/mongodb.mjs'), 'utf8')
const document = readFileSync(join(root, 'docs/write-a-back-end.md'), 'utf8')
const close = async () => {}

let folder = ''
beforeAll(async () => {
  folder = await mkdtemp(join(root, '.cache-tutorial-'))
})
afterAll(() => rm(folder, { recursive: true }))

async function load(name: string, text: string): Promise<Create> {
  const file = join(folder, `${name}.mjs`)
  await writeFile(file, text)
  return ((await import(/* @vite-ignore */ pathToFileURL(file).href)) as { mongodb: Create }).mongodb
}

function suites(runner: TestRunner, create: () => Create): void {
  const opening =
    <Name extends keyof Ports>(name: Name) =>
    async (clock?: Clock) => {
      const client = fakeMongoClient()
      const open = () => create()(client, clock)[name]
      return { port: open(), close, reopen: open }
    }
  storageContract(runner, { name: 'MongoDB', runs: 3, open: opening('storage') })
  keyStoreContract(runner, { name: 'MongoDB', runs: 3, open: opening('keyStore') })
  quotaContract(runner, { name: 'MongoDB', runs: 3, open: opening('quota') })
}

describe('the back end of the tutorial', () => {
  let create: Create
  beforeAll(async () => {
    create = await load('sound', code)
  })
  suites({ describe, test }, () => create)
})

/** The rows of the table of mistakes: a text of the code, its replacement, and the title of the test that fails. */
const mistakes = [...document.matchAll(/^\| `(.+?)` \| `(.+?)` \| \*(.+)\* \|$/gm)].map((row) => row.slice(1))

test.each(mistakes)('the suites find the mistake: %s replaced by %s', async (text = '', replacement = '', title) => {
  expect(code).toContain(text)
  const create = await load(`mistake-${mistakes.findIndex(([one]) => one === text)}`, code.replace(text, replacement))
  const tests: { readonly title: string; readonly run: () => Promise<void> }[] = []
  suites({ describe: (_name, body) => body(), test: (title, run) => tests.push({ title, run }) }, () => create)
  let failed: string | undefined
  for (const { title, run } of tests)
    if (failed === undefined)
      await run().catch(() => {
        failed = title
      })
  expect(failed).toBe(title)
})

import type { TestRunner } from '../../../../src/testing/index.ts'
import { sqliteContracts } from '../../../conformance/sqlite/contracts.ts'
import { sqliteDriverTests } from '../../../conformance/sqlite/driver-tests.ts'
import type { Connection, OpenFile } from '../../../conformance/sqlite/open.ts'

/** Runs the contract suites in Node with node:sqlite and node:test, or in Bun with bun:sqlite and bun:test. */

const isBun = process.versions.bun !== undefined

/** Imports a module that the types of Node 20 lack. The name is a parameter, because the type checker resolves literal names. */
const load = (name: string): Promise<unknown> => import(name)

async function runtime(): Promise<{ runner: TestRunner; name: string; openFile: OpenFile }> {
  if (isBun) {
    const { Database } = (await load('bun:sqlite')) as { Database: new (path: string) => Connection }
    return {
      runner: (await load('bun:test')) as TestRunner,
      name: 'bun:sqlite',
      openFile: (path) => new Database(path),
    }
  }
  const { DatabaseSync } = (await load('node:sqlite')) as { DatabaseSync: new (path: string) => Connection }
  return {
    runner: (await load('node:test')) as TestRunner,
    name: 'node:sqlite',
    openFile: (path) => new DatabaseSync(path),
  }
}

const { runner, name, openFile } = await runtime()
sqliteContracts(runner, name, openFile)
sqliteDriverTests(runner, name, openFile)

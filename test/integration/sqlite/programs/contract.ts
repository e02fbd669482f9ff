import type { TestRunner } from '../../../../src/testing/index.ts'
import { sqliteContracts } from '../contracts.ts'
import { sqliteFaults } from '../faults.ts'
import type { Connection, OpenFile } from '../open.ts'

/** Runs the suites with the driver and the test runner of the runtime that runs this file. */

const isBun = process.versions.bun !== undefined

/** Imports a module whose name the type checker cannot see, because the types of Node 20 lack these modules. */
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
sqliteFaults(runner, name, openFile)

import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, test } from 'vitest'
import { sqliteContracts } from '../../conformance/sqlite/contracts.ts'
import { sqliteDriverTests } from '../../conformance/sqlite/driver-tests.ts'
import type { Connection } from '../../conformance/sqlite/open.ts'
import { onDemand } from '../../support/on-demand.ts'
import { nodeBinary, runtimeBinary, versions } from '../../support/runtimes.ts'
import { missing } from '../../support/skips.ts'

const [BetterSqlite3, node, bun] = await Promise.all([
  onDemand('better-sqlite3@12.9.0').then(compiledDriver),
  nodeBinary(versions.node24),
  runtimeBinary('bun'),
])

const program = join(import.meta.dirname, 'programs/sqlite.ts')

type Driver = new (path: string, options?: { timeout: number }) => Connection

/** Returns better-sqlite3 from a folder, or `undefined` if it was not compiled because npm runs no install scripts. */
function compiledDriver(folder: string | undefined): Driver | undefined {
  if (folder === undefined) return undefined
  const Database: Driver = createRequire(join(folder, 'package.json'))('better-sqlite3')
  try {
    new Database(':memory:').close()
    return Database
  } catch {
    return undefined
  }
}

/** Runs the contract suites in another runtime. If a test fails, the error contains the output. */
async function runContracts(binary: string | undefined, ...args: string[]): Promise<void> {
  await promisify(execFile)(String(binary), args)
}

describe.skipIf(missing('better-sqlite3', BetterSqlite3 !== undefined))('better-sqlite3', () => {
  const Database = BetterSqlite3 as Driver
  sqliteContracts({ describe, test }, 'better-sqlite3', (path) => new Database(path))
  sqliteDriverTests({ describe, test }, 'better-sqlite3', (path) => new Database(path, { timeout: 0 }))
})

test.skipIf(missing('Node 24', node !== undefined))('node:sqlite passes the contract tests', () =>
  runContracts(node, program),
)

test.skipIf(missing('Bun', bun !== undefined))('bun:sqlite passes the contract tests', () => {
  return runContracts(bun, 'test', '--timeout', '60000', program)
})

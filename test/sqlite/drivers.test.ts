import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Libsql from 'libsql'
import { describe, test } from 'vitest'
import { onDemand } from '../support/on-demand.ts'
import { bunBinary, nodeBinary } from '../support/runtimes.ts'
import { missing } from '../support/skips.ts'
import { sqliteContracts } from './contracts.ts'
import { sqliteFaults } from './faults.ts'
import type { Connection } from './open.ts'

const [betterSqlite3, node, bun] = await Promise.all([
  onDemand('better-sqlite3@12.9.0'),
  nodeBinary('24.21.0'),
  bunBinary('1.4.5'),
])

const program = join(import.meta.dirname, 'programs/contract.ts')

/** Runs the suites in another runtime. What they print is in the error where one fails. */
async function inRuntime(binary: string | undefined, ...args: string[]): Promise<void> {
  await promisify(execFile)(String(binary), args, { timeout: 110_000 })
}

sqliteContracts({ describe, test }, 'libsql', (path) => new Libsql(path))
sqliteFaults({ describe, test }, 'libsql', (path) => new Libsql(path))

describe.skipIf(missing('better-sqlite3', betterSqlite3 !== undefined))('better-sqlite3', () => {
  type Driver = new (path: string, options?: { timeout: number }) => Connection
  const Database: Driver = betterSqlite3 && createRequire(join(betterSqlite3, 'package.json'))('better-sqlite3')
  sqliteContracts({ describe, test }, 'better-sqlite3', (path) => new Database(path))
  sqliteFaults({ describe, test }, 'better-sqlite3', (path) => new Database(path, { timeout: 0 }))
})

test.skipIf(missing('Node 24', node !== undefined))('node:sqlite', () => inRuntime(node, program), 120_000)

test.skipIf(missing('Bun', bun !== undefined))(
  'bun:sqlite',
  () => {
    return inRuntime(bun, 'test', '--timeout', '60000', program)
  },
  120_000,
)

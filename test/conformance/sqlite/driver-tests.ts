import type { TestRunner } from '../../../src/testing/index.ts'
import { animalTests } from './animals.ts'
import { countTests } from './counts.ts'
import { fileTests } from './file.ts'
import { lockTests } from './locks.ts'
import type { OpenFile } from './open.ts'
import { setUpTests } from './set-up.ts'
import { tableTests } from './tables.ts'

/** Adds the tests that each SQLite driver must pass beside the contract suites. */
export function sqliteDriverTests(runner: TestRunner, name: string, openFile: OpenFile): void {
  for (const add of [setUpTests, animalTests, countTests, lockTests, fileTests, tableTests]) add(runner, name, openFile)
}

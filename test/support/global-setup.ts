import { randomUUID } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'
import { leftoverProcesses, RUN_MARK } from './leftover-processes.ts'

/**
 * Creates a file in which tests record why they were skipped, and prints the file at the end of the run. The run fails if a
 * process that a test started is still alive then.
 */
export default function setup(project: TestProject): () => Promise<void> {
  const mark = randomUUID()
  process.env[RUN_MARK] = mark
  const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-'))
  const skipsFile = join(folder, 'skips')
  writeFileSync(skipsFile, '')
  project.provide('skipsFile', skipsFile)
  return async () => {
    const skips = new Set(readFileSync(skipsFile, 'utf8').split('\n').filter(Boolean))
    for (const need of skips) console.log(`Skipped: tests that need ${need}, which this machine does not have.`)
    rmSync(folder, { recursive: true })
    const left = await leftoverProcesses(mark)
    if (left.length === 0) return
    // vitest only prints an error of a teardown: without the exit code, the run would pass.
    process.exitCode = 1
    throw new Error(`the tests have left processes running:\n${left.join('\n')}`)
  }
}

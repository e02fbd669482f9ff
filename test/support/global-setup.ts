import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestProject } from 'vitest/node'

/** Creates a file in which tests record why they were skipped, and prints the file at the end of the run. */
export default function setup(project: TestProject): () => void {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-'))
  const skipsFile = join(folder, 'skips')
  writeFileSync(skipsFile, '')
  project.provide('skipsFile', skipsFile)
  return () => {
    const skips = new Set(readFileSync(skipsFile, 'utf8').split('\n').filter(Boolean))
    for (const need of skips) console.log(`Skipped: tests that need ${need}, which this machine does not have.`)
    rmSync(folder, { recursive: true })
  }
}

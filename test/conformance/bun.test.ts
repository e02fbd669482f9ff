import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runtimeBinary } from '../support/runtimes.ts'
import { missing } from '../support/skips.ts'
import { hostProgram } from './start-host.ts'
import { testHost } from './test-host.ts'

const binary = await runtimeBinary('bun')

testHost({ name: 'Bun', binary, program: 'bun.mjs' })

test.skipIf(missing('Bun', binary !== undefined))(
  'Bun: an answer that is there is given at once, and whatever else comes is a 500 at worst',
  async () => {
    const { stdout } = await promisify(execFile)(binary ?? '', [hostProgram('bun-answers.mjs')], { timeout: 20_000 })
    expect(stdout.trim().split('\n')).toEqual([
      'first use of a key: a promise, 200',
      'from memory: now, 200',
      'later: a promise, 200',
      'no promise: a promise, 200',
      'rejected: a promise, 500',
      'throws: now, 500',
      'no answer: a promise, 500',
      'no header: now, 500',
    ])
  },
)

test.skipIf(missing('Bun', binary !== undefined))('Bun: a router may hand over a proxy of the Request', async () => {
  const { stdout } = await promisify(execFile)(binary ?? '', [hostProgram('bun-router.mjs')], { timeout: 20_000 })
  expect(stdout.trim().split('\n')).toEqual(['a good key: 200', 'a wrong key: 401', 'a new pet: 201'])
})

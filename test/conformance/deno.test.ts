import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runtimeBinary } from '../support/runtimes.ts'
import { missing } from '../support/skips.ts'
import { hostProgram } from './start-host.ts'
import { testHost } from './test-host.ts'

const binary = await runtimeBinary('deno')

testHost({ name: 'Deno', binary, args: ['run', '--allow-all'], program: 'deno.mjs' })

test.skipIf(missing('Deno', binary !== undefined))('Deno has nothing to warn of when a body was read', async () => {
  const args = ['run', '--allow-all', hostProgram('deno-once.mjs')]
  const { stdout, stderr } = await promisify(execFile)(binary ?? '', args, { env: { ...process.env, NO_COLOR: '1' } })
  expect([stdout, stderr]).toEqual(['201 {"id":1,"name":"Rex","categoryId":1,"status":"available"}\n', ''])
})

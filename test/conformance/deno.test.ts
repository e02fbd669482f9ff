import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { runtimeBinary } from '../support/runtimes.ts'
import { missing } from '../support/skips.ts'
import { hostProgram } from './start-host.ts'
import { testHost } from './test-host.ts'

const binary = await runtimeBinary('deno')

testHost({ name: 'Deno', binary, args: ['run', '--allow-all'], program: 'deno.mjs' })

test.skipIf(missing('Deno', binary !== undefined))('Deno: an aborted HTTP/2 upload creates no animal', async () => {
  const args = ['run', '--allow-all', hostProgram('deno-broken-upload.mjs')]
  const { stdout } = await promisify(execFile)(binary ?? '', args, { timeout: 20_000 })
  // `onResponse` gets 499, or 400 if Deno ends the body before it aborts the signal. No animal is added.
  expect(stdout).toMatch(/^(?:499|400) 0\n$/)
})

test.skipIf(missing('Deno', binary !== undefined))(
  'Deno: Node hosts respond to a request after a rejected upload',
  async () => {
    const args = ['run', '--allow-all', hostProgram('deno-refused-upload.mjs')]
    const { stdout } = await promisify(execFile)(binary ?? '', args, { timeout: 20_000 })
    expect(stdout.trim().split('\n')).toEqual([
      'Node http: HTTP/1.1 401, HTTP/1.1 401',
      'Express, with compression: HTTP/1.1 401, HTTP/1.1 401',
      'Fastify: HTTP/1.1 401, HTTP/1.1 401',
    ])
  },
)

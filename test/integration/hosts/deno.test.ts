import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hostProgram } from '../../conformance/start-host.ts'
import { testHost } from '../../conformance/test-host.ts'
import { runtimeBinary } from '../../support/runtimes.ts'
import { missing } from '../../support/skips.ts'

const binary = await runtimeBinary('deno')

testHost({ name: 'Deno', binary, args: ['run', '--allow-all'], program: 'deno.mjs' })

test.skipIf(missing('Deno', binary !== undefined)).each(['at-once', 'later'])(
  'Deno: an aborted HTTP/2 upload creates no animal (time of the abort: %s)',
  async (moment) => {
    const args = ['run', '--allow-all', hostProgram('deno-broken-upload.mjs'), moment]
    const { stdout } = await promisify(execFile)(binary ?? '', args)
    // `onResponse` gets 499, or 400 if Deno ends the body before it aborts the signal. No animal is added.
    expect(stdout).toMatch(/^(?:499|400) 0\n$/)
  },
)

test.skipIf(missing('Deno', binary !== undefined))(
  'Deno: node:http, Express and Fastify respond to a request after a rejected upload',
  async () => {
    const args = ['run', '--allow-all', hostProgram('deno-refused-upload.mjs')]
    const { stdout } = await promisify(execFile)(binary ?? '', args)
    expect(stdout.trim().split('\n')).toEqual([
      'Node http: HTTP/1.1 401, HTTP/1.1 401',
      'Express, with compression: HTTP/1.1 401, HTTP/1.1 401',
      'Fastify: HTTP/1.1 401, HTTP/1.1 401',
    ])
  },
)

test.skipIf(missing('Deno', binary !== undefined)).each([
  ['prints no warning about any kind of request', { flags: [], options: [], statuses: {} }],
  [
    'prints no warning about signals with --unstable-no-legacy-abort',
    { flags: ['--unstable-no-legacy-abort'], options: ['signals'], statuses: { 'broken over HTTP/2': '499' } },
  ],
])('Deno: %s', async (_title, { flags, options, statuses }) => {
  const args = ['run', '--allow-all', ...flags, hostProgram('deno-warnings.mjs'), ...options]
  const { stdout, stderr } = await promisify(execFile)(binary ?? '', args)
  expect(
    Object.fromEntries(
      stdout
        .trim()
        .split('\n')
        .map((line) => line.split(': ')),
    ),
  ).toEqual({
    list: '200',
    create: '201',
    'create in chunks': '201',
    'create without a body': '400',
    'create over HTTP/2': '201',
    fault: '500',
    'too large': '413',
    broken: '400',
    ...statuses,
    animals: '3',
  })
  expect(stderr).toBe('')
})

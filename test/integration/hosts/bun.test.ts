import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { hostProgram } from '../../conformance/start-host.ts'
import { testHost } from '../../conformance/test-host.ts'
import { runtimeBinary } from '../../support/runtimes.ts'
import { missing } from '../../support/skips.ts'

const binary = await runtimeBinary('bun')

testHost({ name: 'Bun', binary, program: 'bun.mjs' })

test.skipIf(missing('Bun', binary !== undefined))(
  'Bun: serves a Request that a router has wrapped in a Proxy',
  async () => {
    const { stdout } = await promisify(execFile)(binary ?? '', [hostProgram('bun-router.mjs')])
    expect(stdout.trim().split('\n')).toEqual(['a good key: 200', 'a wrong key: 401', 'a new pet: 201'])
  },
)

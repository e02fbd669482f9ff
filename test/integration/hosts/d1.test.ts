import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { bundleWorker } from '../../conformance/bundle-worker.ts'
import { hostProgram } from '../../conformance/start-host.ts'
import { testHost } from '../../conformance/test-host.ts'
import { runtimeBinary } from '../../support/runtimes.ts'

const folder = await bundleWorker(hostProgram('worker-d1.mjs'))
afterAll(() => rm(folder, { recursive: true }))

const workerd = await runtimeBinary('workerd')
testHost({
  name: 'workerd with D1',
  binary: workerd && process.execPath,
  args: [hostProgram('miniflare.mjs'), workerd ?? ''],
  program: join(folder, 'worker.js'),
})

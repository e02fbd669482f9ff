import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { bundleWorker, workerdArgs } from '../../conformance/bundle-worker.ts'
import { hostProgram } from '../../conformance/start-host.ts'
import { testHost } from '../../conformance/test-host.ts'
import { runtimeBinary } from '../../support/runtimes.ts'

const folder = await bundleWorker(hostProgram('worker.mjs'))
afterAll(() => rm(folder, { recursive: true }))

const binary = await runtimeBinary('workerd')
testHost({ name: 'workerd', binary, args: workerdArgs, program: join(folder, 'worker.capnp') })

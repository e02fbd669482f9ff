import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { bundleWorker, workerdArgs } from './bundle-worker.ts'
import { runtimeBinary } from './runtimes.ts'
import { hostProgram } from './start-host.ts'
import { testHost } from './test-host.ts'

const folder = await bundleWorker(hostProgram('worker.mjs'))
afterAll(() => rm(folder, { recursive: true }))

const binary = await runtimeBinary('workerd')
testHost({ name: 'workerd', binary, args: workerdArgs, program: join(folder, 'worker.capnp') })

import { runtimeBinary } from '../support/runtimes.ts'
import { testHost } from './test-host.ts'

testHost({ name: 'Elysia', runtime: 'Bun', binary: await runtimeBinary('bun'), program: 'elysia.mjs' })

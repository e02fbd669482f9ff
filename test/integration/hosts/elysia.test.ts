import { testHost } from '../../conformance/test-host.ts'
import { runtimeBinary } from '../../support/runtimes.ts'

testHost({ name: 'Elysia', runtime: 'Bun', binary: await runtimeBinary('bun'), program: 'elysia.mjs' })

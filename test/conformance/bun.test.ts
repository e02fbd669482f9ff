import { runtimeBinary } from '../support/runtimes.ts'
import { testHost } from './test-host.ts'

testHost({ name: 'Bun', binary: await runtimeBinary('bun'), program: 'bun.mjs' })

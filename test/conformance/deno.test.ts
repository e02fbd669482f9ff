import { runtimeBinary } from '../support/runtimes.ts'
import { testHost } from './test-host.ts'

testHost({ name: 'Deno', binary: await runtimeBinary('deno'), args: ['run', '--allow-all'], program: 'deno.mjs' })

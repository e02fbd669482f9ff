import { testHost } from './test-host.ts'

testHost({ name: 'Node', binary: process.execPath, program: 'node.mjs' })

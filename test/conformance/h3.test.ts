import { testHost } from './test-host.ts'

testHost({ name: 'h3', binary: process.execPath, program: 'h3.mjs' })

import { testHost } from './test-host.ts'

testHost({ name: 'itty-router', binary: process.execPath, program: 'itty-router.mjs' })

import { testHost } from './test-host.ts'

testHost({ name: 'Hono', binary: process.execPath, program: 'hono.mjs' })

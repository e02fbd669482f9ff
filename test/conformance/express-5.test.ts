import { testHost } from './test-host.ts'

testHost({ name: 'Express 5', isExpress: true, binary: process.execPath, program: 'express5.mjs' })

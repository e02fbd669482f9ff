import { testHost } from './test-host.ts'

testHost({ name: 'Express 4', isExpress: true, binary: process.execPath, program: 'express4.mjs' })

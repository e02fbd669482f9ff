import { testHost } from './test-host.ts'

testHost({ name: 'Koa', binary: process.execPath, program: 'koa.mjs' })

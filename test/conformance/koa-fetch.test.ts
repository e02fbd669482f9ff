import { testHost } from './test-host.ts'

testHost({ name: 'Koa, with a Response', binary: process.execPath, program: 'koa-fetch.mjs' })

import { testHost } from './test-host.ts'

testHost({ name: 'Fastify', binary: process.execPath, program: 'fastify.mjs' })

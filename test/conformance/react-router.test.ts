import { testHost } from './test-host.ts'

testHost({ name: 'React Router', binary: process.execPath, program: 'react-router.mjs' })

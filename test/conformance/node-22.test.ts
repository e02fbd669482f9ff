import { nodeBinary, versions } from './runtimes.ts'
import { testHost } from './test-host.ts'

testHost({ name: 'Node 22', binary: await nodeBinary(versions.node22), program: 'node.mjs' })

import { nodeBinary, versions } from './runtimes.ts'
import { testHost } from './test-host.ts'

testHost({ name: 'Node 24', binary: await nodeBinary(versions.node24), program: 'node.mjs' })

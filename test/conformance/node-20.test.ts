import { nodeBinary, versions } from './runtimes.ts'
import { testHost } from './test-host.ts'

testHost({ name: 'Node 20', binary: await nodeBinary(versions.node20), program: 'node.mjs' })

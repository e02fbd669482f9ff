import { nodeBinary, versions } from './runtimes.ts'
import { testHost } from './test-host.ts'

testHost({ name: 'Node, the newest', binary: await nodeBinary(versions.nodeNewest), program: 'node.mjs' })

import { testHost } from '../../conformance/test-host.ts'
import { nodeBinary, versions } from '../../support/runtimes.ts'

testHost({ name: 'Node, the newest', binary: await nodeBinary(versions.nodeNewest), program: 'node.mjs' })

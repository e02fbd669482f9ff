import { testHost } from '../../conformance/test-host.ts'
import { nodeBinary, versions } from '../../support/runtimes.ts'

testHost({ name: 'Node 24', binary: await nodeBinary(versions.node24), program: 'node.mjs' })

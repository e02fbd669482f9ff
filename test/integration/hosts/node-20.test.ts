import { testHost } from '../../conformance/test-host.ts'
import { nodeBinary, versions } from '../../support/runtimes.ts'

testHost({ name: 'Node 20', binary: await nodeBinary(versions.node20), program: 'node.mjs' })

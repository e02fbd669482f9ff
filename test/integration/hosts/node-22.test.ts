import { testHost } from '../../conformance/test-host.ts'
import { nodeBinary, versions } from '../../support/runtimes.ts'

testHost({ name: 'Node 22', binary: await nodeBinary(versions.node22), program: 'node.mjs' })

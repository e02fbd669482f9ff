import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { shared } from '../vitest.config.ts'

/**
 * The unit tests of the core, and the HTTP suite in this process. The tests of hosts and commands are left out, because they would
 * start servers for each mutant.
 */
export default defineConfig({
  // The programs of the hosts import the built package. Here, they must import the mutants.
  resolve: { alias: [{ find: /^petstore-kit$/, replacement: join(import.meta.dirname, '../src/index.ts') }] },
  test: {
    ...shared,
    globalSetup: ['test/support/global-setup.ts'],
    server: { deps: { inline: [/test\/conformance\/hosts/] } },
    include: [
      'test/conformance/fetch.test.ts',
      'test/unit/*.test.ts',
      'test/unit/{http,keys,memory,pets,quota,reports,support}/**/*.test.ts',
      'test/unit/testing/suites/ports/memory.test.ts',
      'test/unit/testing/suites/http/http-contract.test.ts',
      'test/unit/hosts/{fetch,fetch-bodies,uncounted-responses,used-requests}.test.ts',
    ],
    exclude: ['test/unit/architecture.test.ts'],
    isolate: false,
  },
})

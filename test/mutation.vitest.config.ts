import { defineConfig } from 'vitest/config'
import { shared } from '../vitest.config.ts'

/** The unit tests of the core. The tests of hosts and commands are left out, because they would start servers for each mutant. */
export default defineConfig({
  test: {
    ...shared,
    globalSetup: ['test/support/global-setup.ts'],
    include: [
      'test/unit/*.test.ts',
      'test/unit/{http,keys,memory,pets,quota,support}/**/*.test.ts',
      'test/unit/testing/suites/ports/memory.test.ts',
      'test/unit/testing/suites/http/http-contract.test.ts',
      'test/unit/hosts/{fetch-bodies,uncounted-responses}.test.ts',
    ],
    exclude: ['test/unit/architecture.test.ts'],
    isolate: false,
  },
})

import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** The hosts for which no proxy is used. Everything that the tests start is on this machine; a proxy is only for downloads. */
const noProxy = [process.env.no_proxy ?? process.env.NO_PROXY, 'localhost,127.0.0.1,127.0.0.2,::1']
  .filter(Boolean)
  .join(',')

/** The options of every folder of tests. */
export const shared = {
  // No test may use the settings or the servers of a developer.
  env: {
    ...Object.fromEntries(
      Object.keys(process.env).flatMap((name) => (/^(?:PORT$|PETSTORE_)/.test(name) ? [[name, '']] : [])),
    ),
    PETSTORE_DATA: '',
    PETSTORE_DATABASE_URL: '',
    PETSTORE_REDIS_URL: '',
    PETSTORE_DRAIN_DELAY: '0',
    PGOPTIONS: '',
    PGSSLMODE: '',
    NO_PROXY: noProxy,
    no_proxy: noProxy,
  },
  // A test uses the mock timers of node:test, of which Node 20 warns.
  execArgv: ['--disable-warning=ExperimentalWarning'],
  // These limits only end a test that hangs. No test depends on the speed of the machine, so none sets a limit of its own.
  testTimeout: 600_000,
  hookTimeout: 600_000,
  expect: { poll: { timeout: 300_000 } },
}

export default defineConfig({
  cacheDir: '.cache/vite',
  test: {
    // Many tests wait for servers, so two workers save time even on a small machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    globalSetup: ['test/support/global-setup.ts'],
    reporters: ['./test/support/reporter.ts'],
    projects: [
      { test: { ...shared, name: 'unit', include: ['test/unit/**/*.test.ts'], isolate: false } },
      { test: { ...shared, name: 'conformance', include: ['test/conformance/**/*.test.ts'], isolate: false } },
      { test: { ...shared, name: 'integration', include: ['test/integration/**/*.test.ts'] } },
    ],
  },
})

import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** The hosts for which no proxy is used. Everything that the tests start is on this machine; a proxy is only for downloads. */
const noProxy = [process.env.no_proxy ?? process.env.NO_PROXY, 'localhost,127.0.0.1,127.0.0.2,::1']
  .filter(Boolean)
  .join(',')

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Many tests wait for servers or for downloads, so two workers save time even on a small machine.
    maxWorkers: Math.max(2, availableParallelism() - 1),
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
    globalSetup: ['test/support/global-setup.ts'],
    testTimeout: 30_000,
    hookTimeout: 120_000,
  },
})

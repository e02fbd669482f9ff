import { defineConfig } from 'vitest/config'

export default defineConfig({ test: { include: ['vitest.test.mjs', 'back-off.test.mjs', 'slow-store.test.mjs'] } })

import { migrateAll } from './use-d1.mjs'
import worker from './worker.mjs'

// A Worker may do no I/O while it starts, so the first request creates the tables.
let migrated

export default {
  async fetch(...args) {
    migrated ??= migrateAll()
    await migrated
    return worker.fetch(...args)
  },
}

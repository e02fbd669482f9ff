import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fill, importKit, STATUSES } from '../contestants/fixtures.mjs'
import { withDatabases } from '../support/databases.mjs'
import { openPool } from '../support/pool.mjs'

const SIZES = [1_000, 1_000_000]

/** Compares a page of a database with 1,000 animals and of one with 1,000,000. The part `scale` measures `memory()`. */
export const pages = () =>
  withDatabases(async ({ postgresUrl }) => {
    const results = []
    for (const [name, open] of Object.entries({ SQLite: openSqlite, PostgreSQL: openPostgres })) {
      if (name === 'PostgreSQL' && !postgresUrl) continue
      const closers = []
      try {
        const storages = await open((close) => closers.push(close), postgresUrl)
        const { ratio, page } = await slowestPage(storages)
        console.log(
          `\n${name}: among 1,000,000 animals, a page takes at most ${ratio.toFixed(2)} times as long as among 1,000 (${page})`,
        )
        results.push({ name, ratio, page })
      } finally {
        for (const close of closers.reverse()) await close()
      }
    }
    return results
  })

/** Returns the page that is slowed down most by many animals. Tries each status, at the start, in the middle and at the end. */
async function slowestPage(storages) {
  const ratios = []
  for (const status of [undefined, ...STATUSES]) {
    for (const place of ['first', 'middle', 'last']) {
      const best = [Infinity, Infinity]
      for (let round = 0; round < 20; round++) {
        for (const [i, storage] of storages.entries()) {
          const startedAt = performance.now()
          for (let call = 0; call < 50; call++)
            await storage.list({ limit: 21, status, after: startOf(place, SIZES[i]) })
          best[i] = Math.min(best[i], performance.now() - startedAt)
        }
      }
      ratios.push({ ratio: best[1] / best[0], page: `${place} of ${status ?? 'all'}` })
    }
  }
  return ratios.sort((a, b) => b.ratio - a.ratio)[0]
}

/** Returns the id after which a page begins. It is followed by enough animals of each status to fill the page. */
function startOf(place, size) {
  if (place === 'first') return undefined
  return BigInt(place === 'middle' ? size / 2 : size - 100)
}

async function openSqlite(onClose) {
  const { default: Database } = await import('libsql')
  const { sqlite } = await importKit('sqlite')
  const folder = mkdtempSync(join(tmpdir(), 'petstore-kit-bench-'))
  onClose(() => rmSync(folder, { recursive: true }))
  const storages = []
  for (const size of SIZES) {
    const database = new Database(join(folder, `${size}.db`))
    onClose(() => database.close())
    const { storage } = sqlite(database)
    await fill(storage, size)
    storages.push(storage)
  }
  return storages
}

async function openPostgres(onClose, connectionString) {
  const { postgres } = await importKit('postgres')
  const pool = openPool({ connectionString })
  onClose(() => pool.end())
  const storages = []
  for (const size of SIZES) {
    const schema = `bench_${process.pid}_${size}`
    const { storage, migrate } = postgres(pool, { schema })
    await migrate()
    onClose(() => pool.query(`DROP SCHEMA ${schema} CASCADE`))
    await fill(storage, size)
    await pool.query(`VACUUM ANALYZE ${schema}.pets`)
    storages.push(storage)
  }
  return storages
}

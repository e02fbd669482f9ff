import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { memory } from 'petstore-kit'
import { pet } from './fixtures.mjs'

const SIZES = [1_000, 1_000_000]
const BATCH = 10_000
const STATUSES = [undefined, 'available', 'pending', 'sold']

/** Compares the time to read a page among many animals with that among few, for each status at the start, middle and end. */
export async function benchPages({ rounds = 30, count = 50 } = {}) {
  for (const [name, open] of Object.entries(engines)) {
    const closers = []
    try {
      const storages = await open((close) => closers.push(close))
      const ratios = []
      for (const status of STATUSES) {
        for (const place of ['first', 'middle', 'last']) {
          const best = [Infinity, Infinity]
          for (let round = 0; round < rounds; round++) {
            for (const [i, storage] of storages.entries())
              best[i] = Math.min(
                best[i],
                await timePage(storage, { limit: 21, status, after: startOf(place, SIZES[i]) }, count),
              )
          }
          ratios.push({ ratio: best[1] / best[0], page: `${place} of ${status ?? 'all'}` })
        }
      }
      const [worst] = ratios.sort((a, b) => b.ratio - a.ratio)
      console.log(
        `\n${name}: a page of 1,000,000 animals takes at most ${worst.ratio.toFixed(2)} times as long as a page of 1,000 (${worst.page})`,
      )
    } finally {
      for (const close of closers.reverse()) await close()
    }
  }
}

/** Returns the id after which a page begins. After this id, every status has at least 21 animals. */
function startOf(place, size) {
  if (place === 'first') return undefined
  return BigInt(place === 'middle' ? size / 2 : size - 100)
}

async function timePage(storage, query, count) {
  const started = performance.now()
  for (let i = 0; i < count; i++) await storage.list(query)
  return (performance.now() - started) / count
}

async function fill(storage, size) {
  for (let from = 0; from < size; from += BATCH) {
    const pets = Array.from({ length: Math.min(BATCH, size - from) }, (_, i) => pet(from + i))
    await Promise.all(pets.map((one) => storage.create({ ...one, categoryId: BigInt(one.categoryId) })))
  }
}

/** Functions that open one storage of each size. Each passes a function that closes the storages to `onClose`. */
const engines = {
  async memory() {
    const storages = SIZES.map(() => memory().storage)
    for (const [i, storage] of storages.entries()) await fill(storage, SIZES[i])
    return storages
  },
  async SQLite(onClose) {
    const { default: Database } = await import('libsql')
    const { sqlite } = await import('petstore-kit/sqlite')
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
  },
  ...(process.env.DATABASE_URL && {
    async PostgreSQL(onClose) {
      const { Pool } = await import('pg')
      const { postgres } = await import('petstore-kit/postgres')
      const pool = new Pool({ connectionString: process.env.DATABASE_URL })
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
    },
  }),
}

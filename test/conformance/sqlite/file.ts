import assert from 'node:assert/strict'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import type { TestRunner } from '../../../src/testing/index.ts'
import { onNewFile, pragma, query, REX, spending, UNAVAILABLE } from './fixtures.ts'
import type { OpenFile } from './open.ts'

/** Adds tests of a file that is full, read-only, moved or replaced. */
export function fileTests({ describe, test }: TestRunner, name: string, openFile: OpenFile): void {
  const on = onNewFile(test, openFile)

  describe(`the file: ${name}`, () => {
    on(
      'rejects with service_unavailable while the disk is full, and recovers',
      async ({ database, storage, keyStore }) => {
        const created = [await storage.create(REX)]
        database.exec(`PRAGMA max_page_count = ${Number(pragma(database, 'page_count')) + 2}`)
        await assert.rejects(async () => {
          for (;;) created.push(await storage.create({ ...REX, name: 'x'.repeat(500) }))
        }, UNAVAILABLE)
        await assert.rejects(async () => storage.create({ ...REX, name: 'x'.repeat(50_000) }), UNAVAILABLE)
        await assert.rejects(keyStore.issue({ plan: 'free', label: 'x'.repeat(50_000) }), UNAVAILABLE)
        assert.deepEqual(await storage.list({ limit: 1_000 }), created)
        database.exec('PRAGMA max_page_count = 1000000')
        created.push(await storage.create(REX))
        assert.deepEqual(await storage.list({ limit: 1_000 }), created)
      },
    )

    on(
      'rejects writes to a read-only file with service_unavailable',
      async ({ database, storage, keyStore, quota }) => {
        const kept = await storage.create(REX)
        database.exec('PRAGMA query_only = 1')
        await assert.rejects(async () => storage.create(REX), UNAVAILABLE)
        await assert.rejects(keyStore.issue({ plan: 'free' }), UNAVAILABLE)
        await assert.rejects(async () => quota.spend(spending('key:a', 0)), UNAVAILABLE)
        assert.deepEqual(await storage.list({ limit: 9 }), [kept])
        database.exec('PRAGMA query_only = 0')
        assert.equal((await storage.create(REX)).id, kept.id + 1n)
      },
    )

    on('rejects calls while another file or none is in the place of the file', async ({ path, storage, quota }) => {
      const isReported = (error: { code: string; cause: Error }) =>
        error.code === 'service_unavailable' &&
        error.cause.message.startsWith(`the file ${path} was deleted or replaced`)
      renameSync(path, `${path}-moved`)
      await assert.rejects(async () => storage.create(REX), isReported)
      await assert.rejects(async () => storage.list({ limit: 1 }), isReported)
      writeFileSync(path, '')
      await assert.rejects(async () => storage.create(REX), isReported)
      await assert.rejects(async () => quota.spend(spending('key:a', 0)), isReported)
      renameSync(`${path}-moved`, path)
      assert.equal((await storage.create(REX)).id, 1n)
    })

    on('refuses a backup that lies beside the log of the file before it', async ({ database, storage, path }) => {
      await storage.create(REX)
      database.exec(`VACUUM INTO '${path}-copy'`)
      await storage.create({ ...REX, name: 'Bob' })
      renameSync(`${path}-copy`, path)
      const backup = readFileSync(path)
      const start = () => {
        const other = openFile(path)
        try {
          return sqlite(other, { onError: () => {} })
        } finally {
          other.close()
        }
      }
      assert.throws(start, (error: { code: string; cause: Error }) => {
        assert.equal(error.code, 'service_unavailable')
        assert.match(error.cause.message, /^the log .*pets\.db-wal belongs to another file/)
        return true
      })
      assert.deepEqual(readFileSync(path), backup)
      for (const suffix of ['-wal', '-shm']) renameSync(`${path}${suffix}`, `${path}-old${suffix}`)
      start()
      assert.equal(query(openFile(path), 'SELECT count(*) AS n FROM petstore_pets')[0]?.n, 1)
    })
  })
}

import assert from 'node:assert/strict'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import { createPetStore, memory } from '../../../src/index.ts'
import type { TestRunner } from '../../../src/testing/index.ts'
import { onNewFile, query, REX, spending, UNAVAILABLE } from './fixtures.ts'
import type { OpenFile } from './open.ts'

/** Locks a file against other writers. Returns a function that ends the lock. */
function lock(openFile: OpenFile, path: string, kind: 'IMMEDIATE' | 'EXCLUSIVE' = 'IMMEDIATE'): () => void {
  const other = openFile(path)
  other.exec(`BEGIN ${kind}`)
  return () => {
    other.exec('ROLLBACK')
    other.close()
  }
}

/** Adds tests beside another process that has locked the file. */
export function lockTests({ describe, test }: TestRunner, name: string, openFile: OpenFile): void {
  const on = onNewFile(test, openFile)

  describe(`locks: ${name}`, () => {
    on('gives up after busyTimeout while another process holds the lock', async ({ database, path }) => {
      const { storage, quota, keyStore } = sqlite(database, { busyTimeout: 20 })
      const unlock = lock(openFile, path)
      await assert.rejects(async () => storage.create(REX), UNAVAILABLE)
      await assert.rejects(async () => quota.spend(spending('key:a', 0)), UNAVAILABLE)
      await assert.rejects(keyStore.issue({ plan: 'free' }), UNAVAILABLE)
      assert.deepEqual(await storage.list({ limit: 9 }), [])
      unlock()
      assert.equal((await storage.create(REX)).id, 1n)
    })

    on(
      'waits for the lock of another process, and serves other requests meanwhile',
      async ({ path, storage, quota }) => {
        const unlock = lock(openFile, path)
        const names = ['Ann', 'Bob', 'Cid']
        const created = names.map(async (name) => storage.create({ ...REX, name }))
        const count = quota.spend(spending('key:a', 0))
        for (let turn = 0; turn < 9; turn++) await new Promise(setImmediate)
        assert.deepEqual(await storage.list({ limit: 9 }), [])
        unlock()
        assert.deepEqual(
          (await Promise.all(created)).map(({ id, name }) => [id, name]),
          names.map((name, index) => [BigInt(index + 1), name]),
        )
        assert.equal((await count).usedInMinute, 1)
      },
    )

    on('adds nothing after the signal of a waiting call has aborted', async ({ path, storage }) => {
      const unlock = lock(openFile, path)
      const client = new AbortController()
      const abandoned = storage.create(REX, {}, { signal: client.signal })
      const other = storage.create({ ...REX, name: 'Bob' })
      await new Promise(setImmediate)
      client.abort(new Error('the client has left'))
      await assert.rejects(async () => abandoned, /the client has left/)
      unlock()
      await other
      assert.deepEqual(
        (await storage.list({ limit: 9 })).map(({ name }) => name),
        ['Bob'],
      )
    })

    on('a request gets 503 at the timeout of the store, and its animal is never added', async ({ path, storage }) => {
      const { keyStore, quota } = memory()
      const { token } = await keyStore.issue({ plan: 'free' })
      const petStore = createPetStore({ storage, keyStore, quota, timeout: 20, onError: () => {} })
      const unlock = lock(openFile, path)
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      const request = { method: 'POST', headers, body: '{"name":"Rex","categoryId":1}' }
      assert.equal((await petStore.fetch(new Request('http://localhost/v1/pets', request))).status, 503)
      unlock()
      assert.equal((await storage.create({ ...REX, name: 'Bob' })).id, 1n)
    })

    on('a read waits too if the journal mode has no readers beside a writer', async ({ path }) => {
      const database = openFile(`${path}-truncate`)
      query(database, 'PRAGMA journal_mode = TRUNCATE')
      const { storage } = sqlite(database)
      const created = await storage.create(REX)
      const unlock = lock(openFile, `${path}-truncate`, 'EXCLUSIVE')
      const listed = storage.list({ limit: 9 })
      await new Promise(setImmediate)
      unlock()
      assert.deepEqual(await listed, [created])
      database.close()
    })
  })
}

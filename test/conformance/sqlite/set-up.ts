import assert from 'node:assert/strict'
import { prepare } from '../../../adapters/back-ends/sqlite/connection.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import { STEPS } from '../../../adapters/back-ends/sqlite/schema.ts'
import { quotaStatements, statements } from '../../../adapters/back-ends/sqlite/statements.ts'
import type { TestRunner } from '../../../src/testing/index.ts'
import { onNewFile, pragma, query, REX } from './fixtures.ts'
import type { OpenFile } from './open.ts'

/** Adds tests of the settings, the tables and the indexes. */
export function setUpTests({ describe, test }: TestRunner, name: string, openFile: OpenFile): void {
  const on = onNewFile(test, openFile)

  describe(`set-up: ${name}`, () => {
    on('does not end an open transaction of the host', async ({ database, storage }) => {
      database.exec('BEGIN; CREATE TABLE ours (x)')
      await assert.rejects(async () => storage.create(REX))
      database.exec('COMMIT')
      assert.deepEqual(query(database, 'SELECT * FROM ours'), [])
      assert.equal((await storage.create(REX)).id, 1n)
    })

    on('configures the connection, but keeps the settings of the host', async ({ database, path }) => {
      assert.equal(pragma(database, 'journal_mode'), 'wal')
      assert.equal(pragma(database, 'synchronous'), '2')
      assert.equal(pragma(database, 'busy_timeout'), '0')
      const other = openFile(`${path}-2`)
      query(other, 'PRAGMA journal_mode = TRUNCATE')
      sqlite(other, { synchronous: 'normal' })
      assert.deepEqual(
        ['journal_mode', 'synchronous'].map((name) => pragma(other, name)),
        ['truncate', '1'],
      )
      for (const [set, kept] of [
        ['OFF', '0'],
        ['EXTRA', '3'],
        ['NORMAL', '1'],
        ['FULL', '2'],
      ] as const) {
        other.exec(`PRAGMA synchronous = ${set}`)
        sqlite(other)
        assert.equal(pragma(other, 'synchronous'), kept)
      }
      other.close()
      const memory = openFile(':memory:')
      assert.equal((await sqlite(memory).storage.create(REX)).id, 1n)
      memory.close()
    })

    on('uses existing tables, and rejects tables of a later release', async ({ database, storage, path }) => {
      await storage.create(REX)
      const other = openFile(path)
      assert.equal((await sqlite(other).storage.list({ limit: 9 })).length, 1)
      other.close()
      database.exec('UPDATE petstore_schema SET version = 99')
      assert.throws(() => sqlite(database), {
        code: 'invalid_option',
        message: new RegExp(
          `^option database: expected a schema of version ${STEPS.length} at most, got version 99\\. A later`,
        ),
      })
    })

    on('reads by an index and sorts nothing', async ({ database, storage }) => {
      await Promise.all(
        Array.from({ length: 2_000 }, (_, i) => storage.create({ ...REX, status: i < 1_990 ? 'sold' : 'pending' })),
      )
      database.exec('ANALYZE')
      const plan = (sql: string) => {
        const values = [...sql.matchAll(/\?/g)].map(() => '1')
        const steps = prepare(database, `EXPLAIN QUERY PLAN ${sql}`).all(...values) as { detail: string }[]
        const details = steps.map(({ detail }) => detail).filter((detail) => /petstore_|TEMP B-TREE/.test(detail))
        // In the table of animals, `id` is another name of `rowid`.
        return details.map((detail) => detail.replaceAll('rowid', 'id'))
      }
      const reads = Object.entries({ ...statements, ...quotaStatements }).filter(([, sql]) => sql.startsWith('SELECT'))
      assert.deepEqual(Object.fromEntries(reads.map(([name, sql]) => [name, plan(sql)])), {
        page: ['SEARCH petstore_pets USING INTEGER PRIMARY KEY (id>?)'],
        pageOfStatus: ['SEARCH petstore_pets USING INDEX petstore_pets_by_status (status=? AND id>?)'],
        pet: ['SEARCH petstore_pets USING INTEGER PRIMARY KEY (id=?)'],
        usedKey: ['SEARCH petstore_used_keys USING INDEX sqlite_autoindex_petstore_used_keys_1 (key_sha256=?)'],
        findKey: [
          'SEARCH petstore_keys USING INDEX sqlite_autoindex_petstore_keys_2 (token_sha256=?)',
          'SEARCH petstore_keys USING INDEX sqlite_autoindex_petstore_keys_3 (previous_token_sha256=?)',
        ],
        getKey: ['SEARCH petstore_keys USING INDEX sqlite_autoindex_petstore_keys_1 (id=?)'],
        listKeys: ['SEARCH petstore_keys USING INDEX sqlite_autoindex_petstore_keys_1 (id>?)'],
        listKeysOfAccount: ['SEARCH petstore_keys USING INDEX petstore_keys_by_account (account=? AND id>?)'],
        count: ['SCAN petstore_pets USING COVERING INDEX petstore_pets_by_status'],
        countOfStatus: ['SEARCH petstore_pets USING COVERING INDEX petstore_pets_by_status (status=?)'],
        counter: ['SEARCH petstore_quota USING INDEX sqlite_autoindex_petstore_quota_1 (subject=?)'],
      })
    })
  })
}

import assert from 'node:assert/strict'
import { tableNames } from '../../../adapters/back-ends/shared/tables.ts'
import { sqliteTables } from '../../../adapters/back-ends/sqlite/tables.ts'
import type { TestRunner } from '../../../src/testing/index.ts'
import { createWithKey, onNewFile, REX, spending } from './fixtures.ts'
import { type OpenFile, openBackEnd } from './open.ts'

/** Adds tests of the access that a copy has to the tables. */
export function tableTests({ describe, test }: TestRunner, name: string, openFile: OpenFile): void {
  const on = onNewFile(test, openFile)

  describe(`the tables: ${name}`, () => {
    on('rows that are read and written have the same values in another file', async ({ database, ...source }) => {
      await createWithKey(source.storage, 'order-1')
      await source.keyStore.issue({ plan: 'free', account: 'acme', limits: { perMinute: 1, perDay: 2 } })
      await source.quota.spend(spending('address:a', 0))
      const target = openBackEnd(openFile)
      try {
        const [from, to] = [sqliteTables(database), sqliteTables(target.database)]
        for (const table of tableNames) {
          const rows = await from.read(table, '', 9)
          assert.equal(rows.length, 1)
          for (let repeat = 0; repeat < 2; repeat++) await to.write(table, rows)
          assert.deepEqual(await to.read(table, '', 9), rows)
        }
        await to.raiseLastPetId('7')
        assert.equal(await to.lastPetId(), '7')
        assert.equal((await target.storage.create(REX)).id, 8n)
        await to.remove('pets', ['1', '8'])
        assert.deepEqual(await to.read('pets', '', 9), [])
      } finally {
        await target.close()
      }
    })
  })
}

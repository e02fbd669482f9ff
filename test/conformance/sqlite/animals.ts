import assert from 'node:assert/strict'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import type { PetMembers } from '../../../src/index.ts'
import type { TestRunner } from '../../../src/testing/index.ts'
import { createWithKey, DAY, onNewFile, PRUNE_PERIOD, query, REX, UNAVAILABLE } from './fixtures.ts'
import type { OpenFile } from './open.ts'

/** Adds tests of stored animals and idempotency keys. */
export function animalTests({ describe, test }: TestRunner, name: string, openFile: OpenFile): void {
  const on = onNewFile(test, openFile)

  describe(`animals: ${name}`, () => {
    on('a wrong animal fails no other animal of its batch', async ({ storage }) => {
      const wrong = { ...REX, name: null } as unknown as PetMembers
      const results = await Promise.allSettled([REX, wrong, REX].map(async (pet) => storage.create(pet)))
      assert.deepEqual(
        results.map(({ status }) => status),
        ['fulfilled', 'rejected', 'fulfilled'],
      )
      assert.deepEqual(
        (await storage.list({ limit: 9 })).map(({ id }) => id),
        [1n, 2n],
      )
      await assert.rejects(
        async () => storage.create(wrong),
        (error: { code?: string }) => error.code !== 'service_unavailable',
      )
    })

    on('keeps ids exact up to the largest int64', async ({ database, storage }) => {
      database.exec("INSERT INTO sqlite_sequence (name, seq) VALUES ('petstore_pets', 9007199254740992)")
      const odd = await storage.create(REX)
      assert.equal(odd.id, 2n ** 53n + 1n)
      database.exec('UPDATE sqlite_sequence SET seq = 9223372036854775806')
      const last = await storage.create({ ...REX, categoryId: -(2n ** 63n) })
      assert.equal(last.id, 2n ** 63n - 1n)
      assert.deepEqual(await storage.list({ limit: 9, status: 'sold' }), [odd, last])
      assert.deepEqual(await storage.list({ limit: 9, after: last.id - 1n }), [last])
      assert.deepEqual(await storage.get(last.id), last)
      await assert.rejects(async () => storage.create(REX), UNAVAILABLE)
    })

    on('stores only the hashes of idempotency keys', async ({ database, storage }) => {
      await createWithKey(storage, 'secretkey')
      const [row = {}] = query(database, 'SELECT * FROM petstore_used_keys')
      assert.doesNotMatch(JSON.stringify(Object.values(row).map(String)), /secret|account/)
    })

    on('rejects a call whose row a trigger of the host has dropped', async ({ database, storage, keyStore }) => {
      await storage.create(REX)
      for (const table of ['petstore_used_keys', 'petstore_pets', 'petstore_keys'])
        database.exec(`CREATE TRIGGER drop_${table} BEFORE INSERT ON ${table} BEGIN SELECT raise(IGNORE); END`)
      await assert.rejects(async () => storage.create(REX), /added no animal/)
      await assert.rejects(createWithKey(storage, 'order-1'), /added no animal/)
      await assert.rejects(keyStore.issue({ plan: 'free' }), /added no key/)
      database.exec('DROP TRIGGER drop_petstore_pets')
      await assert.rejects(createWithKey(storage, 'order-1'), /added no animal/)
      assert.equal((await storage.list({ limit: 9 })).length, 1)
    })

    on('returns a repeated animal as it was added', async ({ database, storage }) => {
      const created = await createWithKey(storage, 'order-1')
      database.exec("UPDATE petstore_pets SET status = 'pending', name = 'Max'")
      assert.deepEqual(await createWithKey(storage, 'order-1', 'Ann'), { ...created, earlier: 'same' })
      database.exec('DELETE FROM petstore_pets')
      assert.deepEqual(await createWithKey(storage, 'order-1'), { ...created, earlier: 'same' })
      assert.equal((await createWithKey(storage, 'order-2')).id, created.id + 1n)
    })

    on('stores no animal that the API could not return', async ({ database }) => {
      const columns = 'petstore_pets (id, name, category_id, status)'
      for (const values of [
        "0, 'Rex', 1, 'sold'",
        "1, 'Rex', 1, 'lost'",
        "1, NULL, 1, 'sold'",
        "1, 'Rex', 1.5, 'sold'",
      ])
        assert.throws(() => database.exec(`INSERT INTO ${columns} VALUES (${values})`), values)
    })

    on('a failed create leaves neither the animal nor its idempotency key', async ({ database, storage }) => {
      const create = async () => createWithKey(storage, 'order-1')
      database.exec("CREATE TRIGGER stop BEFORE INSERT ON petstore_used_keys BEGIN SELECT raise(ABORT, 'stopped'); END")
      await assert.rejects(create)
      assert.deepEqual(await storage.list({ limit: 9 }), [])
      database.exec('DROP TRIGGER stop')
      assert.deepEqual([(await create()).earlier, (await create()).earlier], [undefined, 'same'])
    })

    on('removes expired idempotency keys during later creates', async ({ path }) => {
      const clock = { time: 9 * DAY, now: () => clock.time }
      const other = openFile(`${path}-clock`)
      const { storage } = sqlite(other, { clock })
      await createWithKey(storage, 'ahead')
      clock.time = 0
      const useKeys = (name: string) =>
        Promise.all(Array.from({ length: PRUNE_PERIOD }, (_, i) => createWithKey(storage, `${name}-${i}`)))
      await useKeys('old')
      clock.time = 2 * DAY
      await useKeys('new')
      const [row] = query(other, 'SELECT count(*) AS n FROM petstore_used_keys')
      assert.equal(row?.n, PRUNE_PERIOD)
      assert.equal((await createWithKey(storage, 'new-0')).earlier, 'same')
      other.close()
    })
  })
}

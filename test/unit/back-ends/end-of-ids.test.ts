import Database from 'libsql'
import { expect, test } from 'vitest'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'

test('on SQLite, the end of the ids is service_unavailable', async () => {
  const database = new Database(':memory:')
  const { storage } = sqlite(database)
  const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const
  await storage.create(pet)
  database.exec(`UPDATE sqlite_sequence SET seq = ${2n ** 63n - 2n} WHERE name = 'petstore_pets'`)
  expect((await storage.create(pet)).id).toBe(2n ** 63n - 1n)
  const idempotency = { scope: 'account:acme', key: 'order-1', fingerprint: 'f' }
  for (const call of [() => storage.create(pet), () => storage.create(pet, { idempotency })])
    await expect(call()).rejects.toMatchObject({ code: 'service_unavailable' })
  database.close()
})

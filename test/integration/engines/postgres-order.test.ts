import { beforeEach, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import type { Pet, PetStorage } from '../../../src/index.ts'
import { holdCommits, waitForLocks } from '../../support/postgres-back-end.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' }) as const
const namesOf = (pets: readonly Pet[]) => pets.map(({ name }) => name)

/** Reads page by page, as a client that follows the list: each page begins after the last animal that it has. */
function follower(storage: PetStorage) {
  const seen: Pet[] = []
  return {
    seen: () => namesOf(seen),
    async read() {
      for (;;) {
        const page = await storage.list({ limit: 2, after: seen.at(-1)?.id })
        seen.push(...page)
        if (page.length === 0) return
      }
    },
  }
}

describe.skipIf(noPostgres)('the order of animals', () => {
  const database = usePostgres({ max: 16 })
  beforeEach(() => database.renew())

  test('a client that follows the list misses no animal whose commit is late', async () => {
    const processes = Array.from({ length: 3 }, () => postgres(database.pool, { lockTimeout: 60_000 }).storage)
    const [first, ...others] = processes as [PetStorage, PetStorage, PetStorage]
    const client = follower(first)
    const { isHeld, release } = await holdCommits(database.pool, 'slow')
    const slow = first.create(pet('slow'))
    await isHeld()
    const fast = others.map((storage, index) => storage.create(pet(`fast ${index}`)))
    await waitForLocks(database.pool, 2)
    await client.read()
    expect(client.seen()).toEqual([])
    await release()
    const created = await Promise.all([slow, ...fast])
    await client.read()
    expect(client.seen()[0]).toBe('slow')
    expect(client.seen().toSorted()).toEqual(namesOf(created).toSorted())
  })

  test('a create that fails leaves a gap, and the next one goes on', async () => {
    const { storage } = postgres(database.pool)
    const host = await database.pool.connect()
    await host.query('BEGIN')
    await postgres(host).storage.create(pet('rolled back'))
    const next = storage.create(pet('next'))
    await waitForLocks(database.pool)
    expect(await storage.list({ limit: 9 })).toEqual([])
    await host.query('ROLLBACK')
    host.release()
    await next
    expect(namesOf(await storage.list({ limit: 9 }))).toEqual(['next'])
  })

  test('an import that takes the turn is read before later animals', async () => {
    const { storage } = postgres(database.pool)
    const client = follower(storage)
    const host = await database.pool.connect()
    await host.query('BEGIN; SELECT FROM petstore.turn WHERE id = 1 FOR UPDATE')
    await host.query("INSERT INTO petstore.pets (name, category_id, status) VALUES ('imported', 1, 'sold')")
    const later = storage.create(pet('later'))
    await waitForLocks(database.pool)
    await client.read()
    expect(client.seen()).toEqual([])
    await host.query('COMMIT')
    host.release()
    await later
    await client.read()
    expect(client.seen()).toEqual(['imported', 'later'])
  })

  test('after an import with ids and setval, later animals get greater ids', async () => {
    await database.pool.query("INSERT INTO petstore.pets VALUES (1000, 'imported', 1, 'sold')")
    await database.pool.query("SELECT setval('petstore.pet_ids', 1000)")
    expect((await postgres(database.pool).storage.create(pet('later'))).id).toBe(1001n)
  })

  test.each([
    ['after logical replication, which copies no sequence', '5000', 5001n],
    ['if only the first id is taken', '1', 2n],
  ])('migrate raises the sequence %s', async (_, id, next) => {
    await database.pool.query(`INSERT INTO petstore.pets VALUES (${id}, 'replicated', 1, 'sold')`)
    const backEnd = postgres(database.pool)
    if (id === '1') await expect(backEnd.storage.create(pet('in conflict'))).rejects.toMatchObject({ code: '23505' })
    await backEnd.migrate()
    expect((await backEnd.storage.create(pet('next'))).id).toBeGreaterThanOrEqual(next)
  })

  test('migrate does not lower the sequence', async () => {
    const backEnd = postgres(database.pool)
    for (let i = 0; i < 3; i++) await backEnd.storage.create(pet(`${i}`))
    await database.pool.query('DELETE FROM petstore.pets')
    await backEnd.migrate()
    expect((await backEnd.storage.create(pet('next'))).id).toBe(4n)
  })

  test('without its row, the table turn gives a clear error, and migrate restores the row', async () => {
    const backEnd = postgres(database.pool)
    await database.pool.query('DELETE FROM petstore.turn')
    await expect(backEnd.storage.create(pet('a'))).rejects.toThrow(/the table "turn" has no row .*: call migrate\(\)/)
    await backEnd.migrate()
    expect((await backEnd.storage.create(pet('a'))).name).toBe('a')
  })
})

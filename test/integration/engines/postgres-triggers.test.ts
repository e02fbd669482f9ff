import { beforeEach, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { createPetStore } from '../../../src/index.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' }) as const
const idempotency = (key: string) => ({ scope: 'account:acme', key, fingerprint: 'f' })

describe.skipIf(noPostgres)('triggers of the application on PostgreSQL', () => {
  const database = usePostgres()
  beforeEach(() => database.renew())

  /** Adds a trigger that runs before each row is inserted or updated. */
  async function addTrigger(table: string, body: string): Promise<void> {
    await database.pool.query(`CREATE FUNCTION petstore.intervene() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN ${body} END $$;
      CREATE TRIGGER intervene BEFORE INSERT OR UPDATE ON petstore.${table} FOR EACH ROW EXECUTE FUNCTION petstore.intervene()`)
  }

  const DROPPED = /the table "pets" has not stored a row: a trigger or a rule on it has dropped the row/

  test('a dropped row rejects only its own create, and stores no idempotency key', async () => {
    await addTrigger('pets', "IF new.name = 'dropped' THEN RETURN NULL; END IF; RETURN new;")
    const { storage } = postgres(database.pool)
    const [first, dropped, last] = await Promise.allSettled([
      storage.create(pet('first'), { idempotency: idempotency('order-1') }),
      storage.create(pet('dropped'), { idempotency: idempotency('order-2') }),
      storage.create(pet('last')),
    ])
    expect(dropped).toMatchObject({ status: 'rejected', reason: { message: expect.stringMatching(DROPPED) } })
    expect([first.status, last.status]).toEqual(['fulfilled', 'fulfilled'])
    expect((await storage.list({ limit: 9 })).map(({ name }) => name).toSorted()).toEqual(['first', 'last'])
    expect((await database.pool.query('SELECT FROM petstore.used_keys')).rowCount).toBe(1)
    await database.pool.query('DROP TRIGGER intervene ON petstore.pets')
    const again = await storage.create(pet('dropped'), { idempotency: idempotency('order-2') })
    expect(again.earlier).toBeUndefined()
  })

  test('a dropped idempotency key rejects its create, and adds no animal', async () => {
    await addTrigger('used_keys', 'RETURN NULL;')
    const { storage } = postgres(database.pool)
    const created = storage.create(pet('Rex'), { idempotency: idempotency('order-1') })
    await expect(created).rejects.toThrow('the table "used_keys" has not stored a row')
    expect(await storage.list({ limit: 9 })).toEqual([])
  })

  test('a create whose row is dropped gets 500, which is reported', async () => {
    await addTrigger('pets', 'RETURN NULL;')
    const backEnd = postgres(database.pool)
    const { token } = await backEnd.keyStore.issue({ plan: 'pro' })
    const errors: unknown[] = []
    const petStore = createPetStore({ ...backEnd, onError: (error) => errors.push(error) })
    const response = await petStore.fetch(
      new Request('http://localhost/v1/pets', {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: '{"name":"Rex","categoryId":1}',
      }),
    )
    expect(response.status).toBe(500)
    expect(errors.map(String)).toEqual([expect.stringMatching(DROPPED)])
  })

  test('the response and its repeats show a row that a trigger has changed', async () => {
    await addTrigger(
      'pets',
      "new.id = 7000; new.name = 'changed'; new.category_id = 7; new.status = 'pending'; RETURN new;",
    )
    const { storage } = postgres(database.pool)
    const stored = { id: 7000n, name: 'changed', categoryId: 7n, status: 'pending' }
    expect(await storage.create(pet('Rex'), { idempotency: idempotency('order-1') })).toEqual(stored)
    expect(await storage.get(7000n)).toEqual(stored)
    const repeated = await storage.create(pet('Rex'), { idempotency: idempotency('order-1') })
    expect(repeated).toEqual({ ...stored, earlier: 'same' })
  })

  test('a dropped counter gives an error that names the table', async () => {
    await addTrigger('quota', 'RETURN NULL;')
    const request = { anonymous: false, limits: { perMinute: 9, perDay: 9 }, ban: false, now: 0 } as const
    const counted = postgres(database.pool).quota.spend({ ...request, subject: 'key:a' })
    await expect(counted).rejects.toThrow('the table "quota" has not stored a counter')
  })
})

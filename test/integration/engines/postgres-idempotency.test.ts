import { beforeEach, describe, expect, test } from 'vitest'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import type { PetMembers } from '../../../src/index.ts'
import { fingerprintOf, KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { openPool, waitForLocks } from '../../support/postgres-back-end.ts'
import { until } from '../../support/until.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const START = Date.UTC(2026, 0, 1)
const REX: PetMembers = { name: 'Rex', categoryId: 1n, status: 'sold' }
const ADA: PetMembers = { ...REX, name: 'Ada' }
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

const callOf = (key: string, { scope = 'account:acme', pet = REX } = {}) =>
  [pet, { idempotency: { scope, key, fingerprint: fingerprintOf(pet) } }] as const

/** Opens a storage whose clock stands still. */
function open(client: PostgresClient, clock = manualClock(START)) {
  return postgres(client, { clock }).storage
}

describe.skipIf(noPostgres)('idempotency keys on PostgreSQL', () => {
  const database = usePostgres({ max: 12 })
  beforeEach(() => database.renew())

  const names = async () =>
    (await database.pool.query('SELECT name FROM petstore.pets ORDER BY id')).rows.map(({ name }) => name)
  const listed = async () => (await postgres(database.pool).storage.list({ limit: 99 })).map(({ name }) => name)

  test.each(['read committed', 'repeatable read', 'serializable'])(
    'concurrent calls with one idempotency key in four processes add one animal: %s',
    async (isolation) => {
      const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
      const strict = openPool(database.url, { max: 8, options })
      const processes = times(4, () => open(strict))
      for (let round = 0; round < 10; round++) {
        const calls = processes.flatMap((storage) => times(3, () => storage.create(...callOf(`order-${round}`))))
        const results = await Promise.all(calls)
        expect(new Set(results.map(({ id }) => id)).size).toBe(1)
        expect(results.filter(({ earlier }) => earlier === 'same')).toHaveLength(11)
      }
      await strict.end()
      expect(await listed()).toEqual(times(10, () => 'Rex'))
    },
  )

  test('concurrent creates with and without a key each get their own result', async () => {
    const storage = open(database.pool)
    const { id } = await storage.create(...callOf('used'))
    const [used, ofOther, first, second, ...without] = await Promise.all([
      storage.create(...callOf('used')),
      storage.create(...callOf('used', { scope: 'account:other' })),
      storage.create(...callOf('new')),
      storage.create(...callOf('new')),
      storage.create(ADA),
      storage.create(REX),
    ])
    expect(used).toEqual({ ...REX, id, earlier: 'same' })
    expect(new Set([first.earlier, second.earlier])).toEqual(new Set([undefined, 'same']))
    expect(first.id).toBe(second.id)
    expect(without.map(({ name }) => name)).toEqual(['Ada', 'Rex'])
    expect(new Set([used, ofOther, first, ...without].map((pet) => pet.id)).size).toBe(5)
    expect((await listed()).toSorted()).toEqual(['Ada', 'Rex', 'Rex', 'Rex', 'Rex'])
  })

  test('stores no idempotency key for an animal that PostgreSQL rejects', async () => {
    const storage = open(database.pool)
    const refused = callOf('order-1', { pet: { ...REX, name: '\u0000' } })
    const [first, second] = await Promise.allSettled([storage.create(...refused), storage.create(...callOf('order-2'))])
    expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
    expect((await storage.create(...callOf('order-1'))).earlier).toBeUndefined()
  })

  test('a scope may contain any character', async () => {
    const storage = open(database.pool)
    const scopes = ['a\u0000', 'a', 'a\ud800', 'a\ud801', '"', '\\"', 'x'.repeat(3_000)]
    const create = (scope: string) => storage.create(...callOf('order-1', { scope }))
    const ids = (await Promise.all(scopes.map(create))).map(({ id }) => id)
    expect(new Set(ids).size).toBe(scopes.length)
    expect((await Promise.all(scopes.map(create))).map(({ id }) => id)).toEqual(ids)
  })

  test('stores an idempotency key, its scope and its fingerprint only as hashes', async () => {
    await open(database.pool).create(...callOf('order-1'))
    const { rows } = await database.pool.query('SELECT * FROM petstore.used_keys')
    const sha256 = expect.objectContaining({ length: 32 })
    expect(rows).toEqual([
      {
        key_sha256: sha256,
        fingerprint_sha256: sha256,
        pet: { id: 1, name: 'Rex', category: 1, status: 'sold' },
        used_at: String(START),
      },
    ])
  })

  test('processes that use keys in different orders never deadlock', async () => {
    const processes = times(4, () => open(database.pool))
    const keys = times(40, (i) => `order-${i}`)
    const rounds = processes.flatMap((storage, i) =>
      (i % 2 ? keys : keys.toReversed()).map((key) => storage.create(...callOf(key))),
    )
    await Promise.all(rounds)
    expect(await names()).toHaveLength(40)
    const { rows } = await database.pool.query(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    )
    expect(rows).toEqual([{ deadlocks: 0 }])
  })

  test('a rollback removes both the animal and its idempotency key', async () => {
    const host = await database.pool.connect()
    await host.query('BEGIN')
    await open(host).create(...callOf('order-1'))
    const repeated = open(database.pool).create(...callOf('order-1'))
    await waitForLocks(database.pool)
    await host.query('ROLLBACK')
    host.release()
    expect((await repeated).earlier).toBeUndefined()
    expect(await names()).toEqual(['Rex'])
  })

  test("without a clock, idempotency keys expire by PostgreSQL's time", async () => {
    const storage = postgres(database.pool).storage as ReturnType<typeof open>
    const age = (hours: number) =>
      database.pool.query('UPDATE petstore.used_keys SET used_at = used_at - $1::bigint', [hours * 3_600_000])
    await storage.create(...callOf('order-1'))
    await age(47)
    expect((await storage.create(...callOf('order-1'))).id).toBe(1n)
    await age(1)
    expect((await storage.create(...callOf('order-1'))).id).toBeGreaterThan(1n)
  })

  const fill = (scope: string, count: number, now: number) =>
    database.pool.query(
      `INSERT INTO petstore.used_keys
        SELECT sha256($1::text::bytea || n::text::bytea), 'x', '{}', $3::bigint - n FROM generate_series(1, $2::int) AS n`,
      [`"${scope}"`, count, now],
    )
  const countKeys = async () => (await database.pool.query('SELECT FROM petstore.used_keys')).rowCount

  test('1,000 uses of idempotency keys remove expired keys', async () => {
    await fill('account:ended', 2_000, START - KEY_PERIOD)
    const storage = open(database.pool)
    await Promise.all(times(1_000, (i) => storage.create(...callOf(`order-${i}`))))
    await until(async () => (await countKeys()) === 1_000)
  })

  test('keeps every unexpired idempotency key of a scope', async () => {
    await fill('account:acme', 200_000, START - 1)
    const storage = open(database.pool)
    await Promise.all(times(1_100, (i) => storage.create(...callOf(`order-${i}`))))
    await storage.create(...callOf('one more'))
    expect(await countKeys()).toBe(201_101)
  })
})

import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectionOf } from '../../../adapters/back-ends/postgres/connection.ts'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { migrate } from '../../../adapters/back-ends/postgres/migrate.ts'
import { STEPS } from '../../../adapters/back-ends/postgres/schema.ts'
import type { CreatedPet, PetStorage } from '../../../src/index.ts'
import { fingerprintOf, KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { openPool, slowProcess } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

const START = Date.UTC(2026, 0, 1)
const REX = { name: 'Rex', categoryId: 1n } as const
const ADA = { name: 'Ada', categoryId: 1n } as const
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

const callOf = (key: string, { scope = 'account:acme', pet = REX as { name: string; categoryId: bigint } } = {}) =>
  [pet, { scope, key, fingerprint: fingerprintOf(pet) }] as const

/** Opens a storage whose clock stands still. */
function open(client: PostgresClient, clock = manualClock(START)) {
  const { storage } = postgres(client, { clock })
  return { ...storage, createOnce: storage.createOnce as NonNullable<PetStorage['createOnce']> }
}

/** Returns `createOnce` of a new process. Its statement that waits for the disk is sent only after `release` is called. */
function slowCreateOnce(pool: Pool) {
  const { storage, written, release } = slowProcess(pool, manualClock(START))
  return { createOnce: storage.createOnce as NonNullable<PetStorage['createOnce']>, written, release }
}

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))(
  'idempotency keys on PostgreSQL',
  () => {
    let server: PostgresServer
    let pool: Pool
    beforeAll(async () => {
      server = await startPostgres()
      pool = openPool(server.url, { max: 12 })
    })
    beforeEach(async () => {
      await pool.query('DROP SCHEMA IF EXISTS petstore CASCADE')
      await postgres(pool).migrate()
    })
    afterAll(async () => {
      await pool.end()
      await server.remove()
    })

    const names = async () =>
      (await pool.query('SELECT name FROM petstore.pets ORDER BY id')).rows.map(({ name }) => name)
    const listed = async () => (await postgres(pool).storage.list({ limit: 99 })).map(({ name }) => name)

    test.each(['read committed', 'repeatable read', 'serializable'])(
      'concurrent calls with one idempotency key in four processes add one animal: %s',
      async (isolation) => {
        const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
        const strict = openPool(server.url, { max: 8, options })
        const processes = times(4, () => open(strict))
        for (let round = 0; round < 10; round++) {
          const calls = processes.flatMap((storage) => times(3, () => storage.createOnce(...callOf(`order-${round}`))))
          const results = await Promise.all(calls)
          expect(new Set(results.map(({ id }) => id)).size).toBe(1)
          expect(results.filter(({ earlier }) => earlier === 'same')).toHaveLength(11)
        }
        await strict.end()
        expect(await listed()).toEqual(times(10, () => 'Rex'))
      },
    )

    test('concurrent calls of create and createOnce share one statement', async () => {
      let statements = 0
      const query: PostgresClient['query'] = (text, values) => {
        if (text.includes('add_pets')) statements++
        return pool.query(text, values)
      }
      const storage = open({ query })
      await storage.createOnce(...callOf('used'))
      const results: CreatedPet[] = await Promise.all([
        storage.createOnce(...callOf('new')),
        storage.create(ADA),
        storage.createOnce(...callOf('used')),
        storage.createOnce(...callOf('new', { pet: ADA })),
        storage.createOnce(...callOf('used', { scope: 'account:other' })),
        storage.createOnce(...callOf('new')),
        storage.create(REX),
      ])
      expect(results.map(({ id, earlier }) => [Number(id), earlier])).toEqual([
        [2, undefined],
        [3, undefined],
        [1, 'same'],
        [2, 'different'],
        [4, undefined],
        [2, 'same'],
        [5, undefined],
      ])
      expect(statements).toBe(2)
      expect(await listed()).toEqual(['Rex', 'Rex', 'Ada', 'Rex', 'Rex'])
    })

    test('stores no idempotency key for an animal that PostgreSQL rejects', async () => {
      const storage = open(pool)
      const refused = callOf('order-1', { pet: { name: '\u0000', categoryId: 1n } })
      const [first, second] = await Promise.allSettled([
        storage.createOnce(...refused),
        storage.createOnce(...callOf('order-2')),
      ])
      expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
      expect((await storage.createOnce(...callOf('order-1'))).earlier).toBeUndefined()
    })

    test('a scope may contain any character', async () => {
      const storage = open(pool)
      const scopes = ['a\u0000', 'a', 'a\ud800', 'a\ud801', '"', '\\"', 'x'.repeat(3_000)]
      const create = (scope: string) => storage.createOnce(...callOf('order-1', { scope }))
      const ids = (await Promise.all(scopes.map(create))).map(({ id }) => id)
      expect(new Set(ids).size).toBe(scopes.length)
      expect((await Promise.all(scopes.map(create))).map(({ id }) => id)).toEqual(ids)
    })

    test('stores an idempotency key, its scope and its fingerprint only as hashes', async () => {
      await open(pool).createOnce(...callOf('order-1'))
      const { rows } = await pool.query(
        "SELECT encode(convert_to(u::text, 'UTF8'), 'escape') AS text FROM petstore.used_keys AS u",
      )
      expect(rows[0].text).toMatch(
        /^\("\\\\\\\\x[0-9a-f]{64}","\\\\\\\\x[0-9a-f]{64}","\\\\\\\\x[0-9a-f]{64}",1,1767225600000\)$/,
      )
    })

    test('a repeated createOnce waits until the animal of the first call is on disk', async () => {
      const first = slowCreateOnce(pool)
      const created = first.createOnce(...callOf('order-1'))
      await first.written
      const second = slowCreateOnce(pool)
      const repeated = second.createOnce(...callOf('order-1'))
      await second.written
      expect(await listed()).toEqual([])
      second.release()
      expect(await repeated).toEqual({ ...REX, id: 1n, earlier: 'same' })
      expect(await listed()).toEqual(['Rex'])
      first.release()
      expect(await created).toEqual({ ...REX, id: 1n })
    })

    test('after a crash, a repeated createOnce returns the animal that was kept', async () => {
      const { outcome, release } = await crashWhileSaving({ isKept: true })
      release()
      await outcome
      expect(await open(pool).createOnce(...callOf('order-1'))).toEqual({ ...REX, id: 1n, earlier: 'same' })
      expect(await listed()).toEqual(['Rex', 'Ada'])
    })

    // The animal may have reached the disk before the crash. Its idempotency key must be kept or lost together with it.
    test('after a crash, createOnce adds an animal again only if it was lost', async () => {
      const { outcome, release } = await crashWhileSaving({ isKept: false })
      const isKept = (await names()).length > 0
      release()
      await outcome
      const { earlier } = await open(pool).createOnce(...callOf('order-1'))
      expect(earlier).toBe(isKept ? 'same' : undefined)
      expect(await listed()).toEqual(['Rex'])
    })

    async function crashWhileSaving({ isKept }: { isKept: boolean }) {
      const { createOnce, written, release } = slowCreateOnce(pool)
      const created = createOnce(...callOf('order-1'))
      const outcome = expect(created).rejects.toMatchObject({ code: 'service_unavailable' })
      await written
      // PostgreSQL writes its log in order, so saving this second animal also writes the first one to the disk.
      if (isKept) await postgres(pool).storage.create(ADA)
      await server.stop('crash')
      await server.start()
      return { outcome, release }
    }

    test('a rollback removes both the animal and its idempotency key', async () => {
      const host = await pool.connect()
      await host.query('BEGIN')
      await open(host).createOnce(...callOf('order-1'))
      const repeated = open(pool).createOnce(...callOf('order-1'))
      await until(async () => (await pool.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0)
      await host.query('ROLLBACK')
      host.release()
      expect((await repeated).earlier).toBeUndefined()
      expect(await names()).toEqual(['Rex'])
    })

    test('after TRUNCATE of the animals, each idempotency key can be used again', async () => {
      const storage = open(pool)
      await storage.createOnce(...callOf('order-1'))
      await pool.query('TRUNCATE petstore.pets RESTART IDENTITY')
      expect(await storage.createOnce(...callOf('order-1'))).toEqual({ ...REX, id: 1n })
    })

    test('an expired idempotency key can be used again', async () => {
      const clock = manualClock(START)
      const storage = open(pool, clock)
      const at = async (now: number) => {
        clock.set(now)
        return (await storage.createOnce(...callOf('order-1'))).id
      }
      expect(await at(START)).toBe(1n)
      expect(await at(START + KEY_PERIOD - 1)).toBe(1n)
      expect(await at(START + KEY_PERIOD)).toBe(2n)
      expect(await at(START + 2 * KEY_PERIOD - 1)).toBe(2n)
    })

    test("without a clock, idempotency keys expire by PostgreSQL's time", async () => {
      const storage = postgres(pool).storage as ReturnType<typeof open>
      const age = (hours: number) =>
        pool.query('UPDATE petstore.used_keys SET used_at = used_at - $1::float8', [hours * 3_600_000])
      await storage.createOnce(...callOf('order-1'))
      await age(47)
      expect((await storage.createOnce(...callOf('order-1'))).id).toBe(1n)
      await age(1)
      expect((await storage.createOnce(...callOf('order-1'))).id).toBe(2n)
    })

    const fill = (scope: string, count: number, now: number) =>
      pool.query(
        `INSERT INTO petstore.used_keys
        SELECT sha256($1::text::bytea || n::text::bytea), sha256($1::text::bytea), 'x', -n, $3::float8 - n FROM generate_series(1, $2::int) AS n`,
        [`"${scope}"`, count, now],
      )
    const countKeys = async () => (await pool.query('SELECT FROM petstore.used_keys')).rowCount

    test('the first createOnce of a process removes expired idempotency keys', async () => {
      await fill('account:ended', 2_000, START - KEY_PERIOD)
      await open(pool).createOnce(...callOf('order-1'))
      await until(async () => (await countKeys()) === 1)
    })

    test('keeps every unexpired idempotency key of a scope', async () => {
      await fill('account:acme', 200_000, START - 1)
      const storage = open(pool)
      await Promise.all(times(1_100, (i) => storage.createOnce(...callOf(`order-${i}`))))
      await storage.createOnce(...callOf('one more'))
      expect(await countKeys()).toBe(201_101)
    })

    test('an idempotency key is found by an index even in a small table', async () => {
      const host = await pool.connect()
      const storage = open(host)
      await storage.createOnce(...callOf('order-1'))
      await host.query('VACUUM ANALYZE petstore.used_keys')
      await host.query('BEGIN')
      const scans = async () => {
        const columns = 'seq_scan::int AS whole, idx_scan::int AS index'
        return (await host.query(`SELECT ${columns} FROM pg_stat_xact_user_tables WHERE relname = 'used_keys'`)).rows[0]
      }
      const before = await scans()
      await storage.createOnce(...callOf('order-1'))
      expect(await scans()).toEqual({ whole: before.whole, index: before.index + 1 })
      await host.query('ROLLBACK')
      host.release()
    })

    test('processes of the first release still add animals after later migrations', async () => {
      await pool.query('DROP SCHEMA petstore CASCADE')
      await migrate(connectionOf(pool).query, '"petstore"', STEPS.slice(0, 1))
      // These are the statements that the first release sends.
      const add = async (name: string) => {
        const text = `SELECT a.id::text AS id, a.run::text AS run
FROM "petstore".add_pets($1::text::json, $2::int) AS a ORDER BY a.id`
        const [{ id, run }] = (await pool.query(text, [JSON.stringify([[name, '1', null]]), 4_000])).rows
        const save = 'SELECT "petstore".save($1::bigint, $2::bigint, $3::bigint, $4::int) AS saved'
        return [id, (await pool.query(save, [run, id, 7, 4_000])).rows]
      }
      expect(await add('before')).toEqual(['1', [{ saved: true }]])
      const storage = open(pool)
      await postgres(pool).migrate()
      await storage.createOnce(...callOf('order-1'))
      expect(await add('after')).toEqual(['3', [{ saved: true }]])
      expect((await storage.createOnce(...callOf('order-1'))).id).toBe(2n)
      expect(await listed()).toEqual(['before', 'Rex', 'after'])
    })
  },
)

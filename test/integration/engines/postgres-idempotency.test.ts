import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { connectionOf } from '../../../adapters/back-ends/postgres/connection.ts'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { migrate } from '../../../adapters/back-ends/postgres/migrate.ts'
import { STEPS } from '../../../adapters/back-ends/postgres/schema.ts'
import { fingerprintOf } from '../../../src/pets/idempotency.ts'
import { KEY_PERIOD, MAX_KEYS } from '../../../src/pets/used-keys.ts'
import { openPool, slowProcess } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

const START = Date.UTC(2026, 0, 1)
const REX = { name: 'Rex', categoryId: 1n } as const
const ADA = { name: 'Ada', categoryId: 1n } as const
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

const keyed = (
  key: string,
  { scope = 'account:acme', pet = REX as { name: string; categoryId: bigint }, now = START } = {},
) => [pet, { idempotency: { scope, key, fingerprint: fingerprintOf(pet), now } }] as const

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
      'concurrent repeats in four processes add one animal: %s',
      async (isolation) => {
        const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
        const strict = openPool(server.url, { max: 8, options })
        const processes = times(4, () => postgres(strict).storage)
        for (let round = 0; round < 10; round++) {
          const calls = processes.flatMap((storage) => times(3, () => storage.create(...keyed(`order-${round}`))))
          const results = await Promise.all(calls)
          expect(new Set(results.map(({ id }) => id)).size).toBe(1)
          expect(results.filter(({ earlier }) => earlier === 'same')).toHaveLength(11)
        }
        await strict.end()
        expect(await listed()).toEqual(times(10, () => 'Rex'))
      },
    )

    test('one statement adds animals with new, used, shared and no keys', async () => {
      let statements = 0
      const query: PostgresClient['query'] = (text, values) => {
        if (text.includes('add_pets')) statements++
        return pool.query(text, values)
      }
      const { storage } = postgres({ query })
      await storage.create(...keyed('used'))
      const results = await Promise.all([
        storage.create(...keyed('new')),
        storage.create(ADA),
        storage.create(...keyed('used')),
        storage.create(...keyed('new', { pet: ADA })),
        storage.create(...keyed('used', { scope: 'account:other' })),
        storage.create(...keyed('new')),
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

    test('an animal that PostgreSQL refuses leaves no key', async () => {
      const { storage } = postgres(pool)
      const refused = keyed('order-1', { pet: { name: '\u0000', categoryId: 1n } })
      const [first, second] = await Promise.allSettled([
        storage.create(...refused),
        storage.create(...keyed('order-2')),
      ])
      expect([first.status, second.status]).toEqual(['rejected', 'fulfilled'])
      expect((await storage.create(...keyed('order-1'))).earlier).toBeUndefined()
    })

    test('a scope may contain any character', async () => {
      const { storage } = postgres(pool)
      const scopes = ['a\u0000', 'a', 'a\ud800', 'a\ud801', '"', '\\"', 'x'.repeat(3_000)]
      const create = (scope: string) => storage.create(...keyed('order-1', { scope }))
      const ids = (await Promise.all(scopes.map(create))).map(({ id }) => id)
      expect(new Set(ids).size).toBe(scopes.length)
      expect((await Promise.all(scopes.map(create))).map(({ id }) => id)).toEqual(ids)
    })

    test('only hashes of keys, scopes and animals are stored', async () => {
      await postgres(pool).storage.create(...keyed('order-1'))
      const { rows } = await pool.query(
        "SELECT encode(convert_to(u::text, 'UTF8'), 'escape') AS text FROM petstore.used_keys AS u",
      )
      expect(rows[0].text).toMatch(
        /^\("\\\\\\\\x[0-9a-f]{64}","\\\\\\\\x[0-9a-f]{64}","\\\\\\\\x[0-9a-f]{64}",1,1767225600000\)$/,
      )
    })

    test('a repeat waits until the earlier animal is on disk', async () => {
      const first = slowProcess(pool)
      const created = first.storage.create(...keyed('order-1'))
      await first.written
      const second = slowProcess(pool)
      const repeated = second.storage.create(...keyed('order-1'))
      await second.written
      expect(await listed()).toEqual([])
      second.release()
      expect(await repeated).toEqual({ ...REX, id: 1n, earlier: 'same' })
      expect(await listed()).toEqual(['Rex'])
      first.release()
      expect(await created).toEqual({ ...REX, id: 1n })
    })

    test('after a crash, a repeat of an animal that was kept returns it', async () => {
      const { outcome, release } = await crashWhileSaving({ isKept: true })
      release()
      await outcome
      expect(await postgres(pool).storage.create(...keyed('order-1'))).toEqual({ ...REX, id: 1n, earlier: 'same' })
      expect(await listed()).toEqual(['Rex', 'Ada'])
    })

    // The server may have written the animal before it crashed. Both results are right, if the key agrees with them.
    test('after a crash, a repeat adds an animal only if the first was lost', async () => {
      const { outcome, release } = await crashWhileSaving({ isKept: false })
      const isKept = (await names()).length > 0
      release()
      await outcome
      const { earlier } = await postgres(pool).storage.create(...keyed('order-1'))
      expect(earlier).toBe(isKept ? 'same' : undefined)
      expect(await listed()).toEqual(['Rex'])
    })

    async function crashWhileSaving({ isKept }: { isKept: boolean }) {
      const { storage, written, release } = slowProcess(pool)
      const created = storage.create(...keyed('order-1'))
      const outcome = expect(created).rejects.toMatchObject({ code: 'service_unavailable' })
      await written
      // The log is written in order, so this animal takes the first one to the disk.
      if (isKept) await postgres(pool).storage.create(ADA)
      await server.stop('crash')
      await server.start()
      return { outcome, release }
    }

    test('a transaction that is undone leaves neither the animal nor its key', async () => {
      const host = await pool.connect()
      await host.query('BEGIN')
      await postgres(host).storage.create(...keyed('order-1'))
      const repeated = postgres(pool).storage.create(...keyed('order-1'))
      await until(async () => (await pool.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0)
      await host.query('ROLLBACK')
      host.release()
      expect((await repeated).earlier).toBeUndefined()
      expect(await names()).toEqual(['Rex'])
    })

    test('TRUNCATE ends all keys', async () => {
      const { storage } = postgres(pool)
      await storage.create(...keyed('order-1'))
      await pool.query('TRUNCATE petstore.pets RESTART IDENTITY')
      expect(await storage.create(...keyed('order-1'))).toEqual({ ...REX, id: 1n })
    })

    test('a key that has ended can be used again', async () => {
      const { storage } = postgres(pool)
      await storage.create(...keyed('order-1'))
      const at = async (now: number) => (await storage.create(...keyed('order-1', { now }))).id
      expect(await at(START + KEY_PERIOD - 1)).toBe(1n)
      expect(await at(START + KEY_PERIOD)).toBe(2n)
      expect(await at(START + 2 * KEY_PERIOD - 1)).toBe(2n)
    })

    test('removes ended keys, and the oldest keys of a full scope', async () => {
      const { storage } = postgres(pool)
      const fill = (scope: string, count: number, now: number) =>
        pool.query(
          `INSERT INTO petstore.used_keys
        SELECT sha256($1::text::bytea || n::text::bytea), sha256($1::text::bytea), 'x', -n, $3::float8 - n FROM generate_series(1, $2::int) AS n`,
          [`"${scope}"`, count, now],
        )
      await fill('account:ended', 2_000, START - KEY_PERIOD)
      await fill('account:acme', MAX_KEYS + 500, START - 1)
      await Promise.all(times(1_000, (i) => storage.create(...keyed(`order-${i}`))))
      const counts = async () => {
        const text = `SELECT count(*)::int AS keys, min(pet_id)::int AS oldest FROM petstore.used_keys`
        return (await pool.query(text)).rows[0]
      }
      await until(async () => (await counts()).keys === MAX_KEYS)
      expect(await counts()).toEqual({ keys: MAX_KEYS, oldest: 1_000 - MAX_KEYS })
    })

    test('a key is found by its index while the table is small', async () => {
      const host = await pool.connect()
      await postgres(host).storage.create(...keyed('order-1'))
      await host.query('VACUUM ANALYZE petstore.used_keys')
      await host.query('BEGIN')
      const scans = async () => {
        const columns = 'seq_scan::int AS whole, idx_scan::int AS index'
        return (await host.query(`SELECT ${columns} FROM pg_stat_xact_user_tables WHERE relname = 'used_keys'`)).rows[0]
      }
      const before = await scans()
      await postgres(host).storage.create(...keyed('order-1'))
      expect(await scans()).toEqual({ whole: before.whole, index: before.index + 1 })
      await host.query('ROLLBACK')
      host.release()
    })

    test('processes of the first version go on beside', async () => {
      await pool.query('DROP SCHEMA petstore CASCADE')
      await migrate(connectionOf(pool).query, '"petstore"', STEPS.slice(0, 1))
      // These are the statements of the first version.
      const add = async (name: string) => {
        const text = `SELECT a.id::text AS id, a.run::text AS run
FROM "petstore".add_pets($1::text::json, $2::int) AS a ORDER BY a.id`
        const [{ id, run }] = (await pool.query(text, [JSON.stringify([[name, '1', null]]), 4_000])).rows
        const save = 'SELECT "petstore".save($1::bigint, $2::bigint, $3::bigint, $4::int) AS saved'
        return [id, (await pool.query(save, [run, id, 7, 4_000])).rows]
      }
      expect(await add('before')).toEqual(['1', [{ saved: true }]])
      const { storage, migrate: update } = postgres(pool)
      await update()
      await storage.create(...keyed('order-1'))
      expect(await add('after')).toEqual(['3', [{ saved: true }]])
      expect((await storage.create(...keyed('order-1'))).id).toBe(2n)
      expect(await listed()).toEqual(['before', 'Rex', 'after'])
    })
  },
)

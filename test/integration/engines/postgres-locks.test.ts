import type { Client } from 'pg'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { createPetStore } from '../../../src/index.ts'
import { addAnimal } from '../../support/load.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { until } from '../../support/until.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' }) as const
const KEY = { scope: 'account:acme', key: 'order-1', fingerprint: 'f' }
const REQUEST = {
  subject: 'key:a',
  anonymous: false,
  limits: { perMinute: 9, perDay: 9 },
  ban: false,
  now: 0,
} as const
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

describe.skipIf(noPostgres)('locks of PostgreSQL', () => {
  const database = usePostgres({ max: 12 })
  let host: Client
  beforeAll(async () => {
    host = await database.connect()
  })
  beforeEach(async () => {
    // If a test has failed, its transaction may still be open.
    await host.query('ROLLBACK')
    await database.renew()
  })

  const names = async () =>
    (await database.pool.query('SELECT name FROM petstore.pets ORDER BY id')).rows.map(({ name }) => name)

  test('a create that waits too long adds no animal', async () => {
    const backEnd = postgres(database.pool, { lockTimeout: 50 })
    const { token } = await backEnd.keyStore.issue({ plan: 'free' })
    const plans = { free: { perMinute: 1e6, perDay: 1e6 } }
    const errors: unknown[] = []
    const petStore = createPetStore({ ...backEnd, plans, onError: (error) => errors.push(error) })
    await host.query('BEGIN')
    await postgres(host).storage.create(pet('of the host'))
    const responses = await Promise.all(times(300, () => addAnimal(petStore, token)))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]))
    expect(errors).toHaveLength(300)
    expect((errors[0] as Error).cause).toMatchObject({ code: '55P03' })
    await host.query('ROLLBACK')
    expect((await addAnimal(petStore, token)).status).toBe(201)
    expect(await names()).toEqual(['Rex'])
  })

  test('writes fail with service_unavailable while their tables are locked', async () => {
    // On a new connection, PostgreSQL must first compile the functions. This must not wait for the locked tables either.
    const fresh = openPool(database.url)
    const { storage, quota } = postgres(fresh, { lockTimeout: 20 })
    const tables = ['pets', 'turn', 'used_keys', 'quota'].map((table) => `petstore.${table}`)
    await host.query(`BEGIN; LOCK TABLE ${tables} IN ACCESS EXCLUSIVE MODE`)
    const writes = [
      () => storage.create(pet('a')),
      () => postgres(fresh, { lockTimeout: 20 }).storage.create(pet('b'), { idempotency: KEY }),
      () => quota.spend(REQUEST),
      () => quota.spend({ ...REQUEST, anonymous: true }),
    ]
    const results = await Promise.allSettled(writes.map((write) => write()))
    await host.query('ROLLBACK')
    await fresh.end()
    expect(results.map((result) => result.status === 'rejected' && result.reason.code)).toEqual(
      writes.map(() => 'service_unavailable'),
    )
  })

  test('a host keeps its settings after create and spend', async () => {
    const show = async () => {
      const text = "SELECT current_setting('lock_timeout') AS lock, current_setting('synchronous_commit') AS commit"
      return (await host.query(text)).rows[0]
    }
    await host.query("BEGIN; SET LOCAL lock_timeout = '77s'; SET LOCAL synchronous_commit = 'remote_write'")
    const { storage, quota } = postgres(host)
    await storage.create(pet('a'))
    expect(await show()).toEqual({ lock: '77s', commit: 'remote_write' })
    await storage.create(pet('a'), { idempotency: KEY })
    await quota.spend({ ...REQUEST, anonymous: true })
    expect(await show()).toEqual({ lock: '77s', commit: 'remote_write' })
    await host.query('ROLLBACK')
    expect((await host.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '0' }])
  })

  test("counting a request in a host's transaction does not delay requests with other keys", async () => {
    await host.query('BEGIN')
    await postgres(host).quota.spend(REQUEST)
    expect((await postgres(database.pool).quota.spend({ ...REQUEST, subject: 'key:b' })).usedInDay).toBe(1)
    await host.query('ROLLBACK')
  })

  describe('while the only synchronous standby is unreachable', () => {
    /** Sets the synchronous standbys. Waits until PostgreSQL uses the new value, which takes a moment. */
    const setStandby = async (name: string) => {
      await database.pool.query(`ALTER SYSTEM SET synchronous_standby_names = '${name}'`)
      await database.pool.query('SELECT pg_reload_conf()')
      const setting = async () =>
        (await database.pool.query('SHOW synchronous_standby_names')).rows[0].synchronous_standby_names
      await until(async () => (await setting()) === name)
      // Commits wait for the standby only when the checkpointer has read the setting too.
      await database.pool.query('CHECKPOINT')
    }
    const waitsForStandby = () =>
      until(
        async () =>
          (await database.pool.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")).rows.length > 0,
      )
    afterEach(() => setStandby(''))

    test('creates fail and add nothing, except the one that waits for its commit', async () => {
      const { storage, quota } = postgres(database.pool, { lockTimeout: 50 })
      await setStandby('absent')
      const waiting = postgres(database.pool, { lockTimeout: 60_000 }).storage.create(pet('waiting'))
      await waitsForStandby()
      for (let i = 0; i < 3; i++)
        await expect(storage.create(pet('refused'))).rejects.toMatchObject({ cause: { code: '55P03' } })
      expect(await storage.list({ limit: 9 })).toEqual([])
      expect((await quota.spend(REQUEST)).granted).toBe(true)
      await setStandby('')
      expect((await waiting).name).toBe('waiting')
      expect(await names()).toEqual(['waiting'])
    })
  })
})

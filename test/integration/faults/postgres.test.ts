import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresBackEnd, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { createPetStore, type PetStoreOptions } from '../../../src/index.ts'
import { addAnimal, createdIds, startLoad } from '../../support/load.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('faults of PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  let backEnd: PostgresBackEnd
  let token: string
  beforeAll(async () => {
    server = await startPostgres()
    pool = openPool(server.url, { max: 6 })
    backEnd = postgres(pool)
    await backEnd.migrate()
    token = (await backEnd.keyStore.issue({ plan: 'free' })).token
  })
  afterAll(async () => {
    await pool.end()
    await server.remove()
  })

  function open(options: PetStoreOptions = {}) {
    const errors: unknown[] = []
    const plans = { free: { perMinute: 1_000_000, perDay: 1_000_000 } }
    const onError = (error: unknown) => errors.push(error)
    return { petStore: createPetStore({ ...backEnd, plans, onError, ...options }), errors }
  }

  async function expectKept(ids: readonly string[]): Promise<void> {
    const { rows } = await pool.query<{ id: string }>('SELECT id::text FROM petstore.pets')
    const kept = new Set(rows.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids.filter((id) => !kept.has(id))).toEqual([])
  }

  test.each([
    ['an ordinary stop', 'clean'],
    ['a crash', 'crash'],
  ] as const)('servers under load survive %s of PostgreSQL', async (_, how) => {
    const { petStore, errors } = open()
    const load = startLoad(petStore, token)
    await load.reach(201, 100)
    await server.stop(how)
    await load.reach(503, 20)
    await server.start()
    await load.reach(201, 100)
    await load.stop()
    expect(new Set(load.results.map(({ status }) => status))).toEqual(new Set([201, 503]))
    const refused = load.results.filter(({ status }) => status === 503)
    expect(refused.every(({ retryAfter }) => Number(retryAfter) >= 1)).toBe(true)
    expect(new Set(refused.map(({ body }) => body)).size).toBe(1)
    expect(errors.length).toBe(refused.length)
    expect(errors.every((error) => (error as { cause?: unknown }).cause instanceof Error)).toBe(true)
    await expectKept(createdIds(load.results))
  })

  test('servers under load survive cut connections to PostgreSQL', async () => {
    const { petStore } = open()
    const admin = openPool(server.url, { max: 1 })
    const load = startLoad(petStore, token)
    const someFailed = () => load.results.some(({ status }) => status === 503)
    // On a slow machine, a cut can come while no request is running, so the loop continues until a request fails.
    for (let cut = 0; cut < 5 || !someFailed(); cut++) {
      await load.reach(201, 50)
      const cuts =
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename = $1'
      await admin.query(cuts, ['petstore'])
    }
    await load.reach(201, 50)
    await load.stop()
    await admin.end()
    expect(load.results.filter(({ status }) => status !== 201 && status !== 503)).toEqual([])
    await expectKept(createdIds(load.results))
  })

  test('a request gets 503 after the timeout while PostgreSQL is slow', async () => {
    const { petStore, errors } = open({ timeout: 200 })
    const blocker = await pool.connect()
    await blocker.query('BEGIN; LOCK TABLE petstore.pets IN ACCESS EXCLUSIVE MODE')
    const slow = await addAnimal(petStore, token)
    await blocker.query('COMMIT')
    blocker.release()
    expect(slow).toMatchObject({ status: 503, retryAfter: '5' })
    expect(String((errors[0] as Error).cause)).toBe('Error: the storage did not respond within 200 ms')
    expect((await addAnimal(petStore, token)).status).toBe(201)
  })

  test.each(['refuse', 'allow'] as const)(
    'onQuotaFailure %j applies while the quota table is locked',
    async (onQuotaFailure) => {
      const { petStore, errors } = open({ onQuotaFailure, timeout: 200 })
      const blocker = await pool.connect()
      await blocker.query('BEGIN; LOCK TABLE petstore.quota IN ACCESS EXCLUSIVE MODE')
      const { status } = await addAnimal(petStore, token)
      await blocker.query('COMMIT')
      blocker.release()
      expect(status).toBe(onQuotaFailure === 'allow' ? 201 : 503)
      expect(errors.length).toBe(1)
    },
  )

  test('list throws service_unavailable if PostgreSQL accepts no more connections', async () => {
    const others = openPool(server.url, { max: 200 })
    const clients: { release(): void }[] = []
    await pool.query('SELECT 1')
    const fresh = openPool(server.url, { max: 1 })
    for (;;) {
      const client = await others.connect().catch(() => undefined)
      if (client === undefined) break
      clients.push(client)
    }
    await expect(postgres(fresh).storage.list({ limit: 1 })).rejects.toMatchObject({ code: 'service_unavailable' })
    for (const client of clients) client.release()
    await others.end()
    await expect(postgres(fresh).storage.list({ limit: 1 })).resolves.toHaveLength(1)
    await fresh.end()
  })

  test('a missing table causes 500, and the error contains no token', async () => {
    const elsewhere = postgres(pool, { schema: 'never migrated', keyCache: false })
    const error = await elsewhere.keyStore.issue({ plan: 'free' }).catch((error: unknown) => error)
    expect(error).toMatchObject({ code: '42P01' })
    expect(String(error)).not.toMatch(/pet_[0-9A-Za-z]{10}/)
    const { petStore } = open({ storage: elsewhere.storage })
    expect(await addAnimal(petStore, token)).toMatchObject({ status: 500, retryAfter: null })
  })
})

import type { Pool } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import type { Pet } from '../../../src/index.ts'
import { openPool, SAVE, slowProcess } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' }) as const
const request = {
  subject: 'key:a',
  anonymous: false,
  limits: { perMinute: 9, perDay: 9 },
  ban: false,
  now: 0,
} as const

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('a slow disk of PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  beforeAll(async () => {
    // By default, PostgreSQL syncs its log about every 200 ms: no test would notice a commit that does not wait for the disk.
    server = await startPostgres({ settings: { wal_writer_delay: '10s' } })
    pool = openPool(server.url)
  })
  beforeEach(async () => {
    await pool.query('DROP SCHEMA IF EXISTS petstore CASCADE')
    await postgres(pool).migrate()
  })
  afterAll(async () => {
    await pool.end()
    await server.remove()
  })

  const listed = async () => (await postgres(pool).storage.list({ limit: 99 })).map(({ name }) => name)
  const statusList = async () =>
    (await postgres(pool).storage.list({ limit: 99, status: 'sold' })).map(({ name }) => name)

  test('an animal cannot be read before it is on disk', async () => {
    const { storage, written, release } = slowProcess(pool)
    const created = storage.create(pet('slow'))
    await written
    expect([await listed(), await statusList(), await storage.get(1n)]).toEqual([[], [], undefined])
    release()
    const { id } = await created
    expect([await listed(), await statusList(), (await storage.get(id))?.name]).toEqual([['slow'], ['slow'], 'slow'])
  })

  test('while one create waits for the disk, other processes can create animals', async () => {
    const { storage, written, release } = slowProcess(pool)
    const created = storage.create(pet('slow'))
    await written
    await postgres(pool).storage.create(pet('fast'))
    expect(await listed()).toEqual(['slow', 'fast'])
    release()
    await created
  })

  test('animals that were imported with SQL can be read', async () => {
    await pool.query("INSERT INTO petstore.pets SELECT n, 'imported ' || n, 1, 'sold' FROM generate_series(1, 3) AS n")
    expect(await statusList()).toEqual(['imported 1', 'imported 2', 'imported 3'])
  })

  test('an import waits for the disk even if its session has turned synchronous_commit off', async () => {
    const client = await pool.connect()
    await client.query('BEGIN; SET LOCAL synchronous_commit = off')
    await client.query("INSERT INTO petstore.pets VALUES (nextval('petstore.pet_ids'), 'imported', 1, 'sold')")
    expect((await client.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }])
    await client.query('ROLLBACK')
    client.release()
  })

  test('an import waits until an earlier create has committed', async () => {
    const [host, importer] = [await pool.connect(), await pool.connect()]
    await host.query('BEGIN')
    await postgres(host).storage.create(pet('open'))
    const text = "INSERT INTO petstore.pets VALUES (nextval('petstore.pet_ids'), 'imported', 1, 'sold')"
    await importer.query('SET lock_timeout = 50')
    await expect(importer.query(text)).rejects.toMatchObject({ code: '55P03' })
    await host.query('COMMIT')
    await importer.query(text)
    expect(await listed()).toEqual(['open', 'imported'])
    await importer.query('RESET lock_timeout')
    for (const client of [host, importer]) client.release()
  })

  test('after an import with ids, only animals on disk are listed', async () => {
    await pool.query("INSERT INTO petstore.pets VALUES (1000, 'imported', 1, 'sold')")
    await pool.query('DELETE FROM petstore.pets')
    const { storage, written, release } = slowProcess(pool)
    const created = storage.create(pet('slow'))
    await written
    expect(await listed()).toEqual([])
    release()
    expect((await created).id).toBe(1001n)
  })

  test('TRUNCATE waits for an animal that is just being saved', async () => {
    const host = await pool.connect()
    await host.query('BEGIN')
    // The save runs in the transaction of the host. Until the host commits, it looks like a save that waits for a slow disk.
    const query: PostgresClient['query'] = (text, values) => (text.includes(SAVE) ? host : pool).query(text, values)
    await postgres({ query }).storage.create(pet('old'))
    const truncated = pool.query('TRUNCATE petstore.pets RESTART IDENTITY')
    await until(async () => (await pool.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0)
    await host.query('COMMIT')
    host.release()
    await truncated
    expect((await pool.query('SELECT FROM petstore.durable')).rows).toEqual([])
  })

  describe('while the only synchronous standby is unreachable', () => {
    /** Sets the synchronous standbys. Waits until PostgreSQL uses the new value, which takes a moment. */
    const setStandby = async (names: string) => {
      await pool.query(`ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
      await pool.query('SELECT pg_reload_conf()')
      const probe = openPool(server.url, { query_timeout: 50 })
      const isStuck = () =>
        probe.query("SELECT pg_logical_emit_message(true, '', '')").then(
          () => false,
          () => true,
        )
      await until(async () => (await isStuck()) === (names !== ''))
      await probe.end()
    }
    const waits = async () =>
      (await pool.query("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%save(%'")).rows
        .length
    afterEach(() => setStandby(''))

    test('at most two saves wait for a standby, and other calls still work', async () => {
      const impatient = openPool(server.url, { query_timeout: 100 })
      // The back end does not recognize a wrapped pool as pg, so the pool's time limit also applies to saves.
      const { storage, quota } = postgres({ query: (text, values) => impatient.query(text, values) })
      await storage.create(pet('before'))
      await setStandby('absent')
      for (let i = 0; i < 6; i++)
        await expect(storage.create(pet('waiting'))).rejects.toMatchObject({ code: 'service_unavailable' })
      expect(await waits()).toBe(2)
      expect((await storage.list({ limit: 9 })).map(({ name }) => name)).toEqual(['before'])
      expect((await quota.spend(request)).granted).toBe(true)
      await setStandby('')
      await until(async () => (await waits()) === 0)
      await storage.create(pet('after'))
      expect((await listed()).at(-1)).toBe('after')
      await impatient.end()
    })

    test('query_timeout does not end a statement that waits for the disk', async () => {
      const impatient = openPool(server.url, { query_timeout: 100 })
      const { storage } = postgres(impatient)
      await setStandby('absent')
      const created = storage.create(pet('patient'))
      await until(async () => (await waits()) === 1)
      await expect(impatient.query('SELECT pg_sleep(1)')).rejects.toThrow('Query read timeout')
      await setStandby('')
      expect((await created).name).toBe('patient')
      await impatient.end()
    })
  })

  test('an animal that a client has created or read survives a crash of PostgreSQL', async () => {
    const writers = Array.from({ length: 4 }, () => openPool(server.url))
    const read = new Map<bigint, Pet>()
    const acknowledged: Pet[] = []
    let isOver = false
    const untilCrash = async (work: () => Promise<unknown>) => {
      while (!isOver) await work()
    }
    const write = (pool: Pool) =>
      untilCrash(async () => acknowledged.push(await postgres(pool).storage.create(pet(`${Math.random()}`))))
    const readLast = () =>
      untilCrash(async () => {
        const last = [...read.keys()].at(-1)
        for (const found of await postgres(pool).storage.list({ limit: 99, after: last })) read.set(found.id, found)
      })
    const work = [...writers.map(write), readLast()].map((one) => one.catch(() => {}))
    while (acknowledged.length < 200) await new Promise((resolve) => setImmediate(resolve))
    await server.stop('crash')
    isOver = true
    await Promise.all(work)
    await Promise.all(writers.map((one) => one.end()))
    await server.start()
    const { rows } = await pool.query('SELECT id, name FROM petstore.pets')
    const kept = new Map(rows.map(({ id, name }) => [BigInt(id), name]))
    for (const { id, name } of [...read.values(), ...acknowledged]) expect(kept.get(id)).toBe(name)
  })

  test('create fails if PostgreSQL has crashed before the animal was on disk', async () => {
    const { storage, written, release } = slowProcess(pool)
    const created = storage.create(pet('lost'))
    const outcome = expect(created).rejects.toMatchObject({ code: 'service_unavailable' })
    await written
    await server.stop('crash')
    await server.start()
    release()
    await outcome
    const { id } = await storage.create(pet('next'))
    expect(await listed()).toContain('next')
    expect((await pool.query('SELECT max(up_to) FROM petstore.durable')).rows).toEqual([{ max: String(id) }])
  })

  test('on Aurora, an animal that is not yet marked durable survives a crash', async () => {
    await pool.query("CREATE FUNCTION petstore.aurora_version() RETURNS text LANGUAGE sql AS 'SELECT ''16.8.1'''")
    await pool.query('ALTER TABLE petstore.server_runs SET LOGGED')
    const { storage, written, release } = slowProcess(pool)
    const created = storage.create(pet('kept'))
    await written
    await server.stop('crash')
    await server.start()
    release()
    expect((await created).name).toBe('kept')
    expect(await listed()).toEqual(['kept'])
  })

  test('counting a request does not wait for the disk', async () => {
    const { quota } = slowProcess(pool)
    expect((await quota.spend(request)).usedInDay).toBe(1)
  })

  test("counting a request in a host's transaction does not delay requests with other keys", async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await postgres(client).quota.spend(request)
    expect((await postgres(pool).quota.spend({ ...request, subject: 'key:b' })).usedInDay).toBe(1)
    await client.query('ROLLBACK')
    client.release()
  })

  test('an animal that TRUNCATE removes during its save is not marked durable', async () => {
    const { storage, written, release } = slowProcess(pool)
    const outcome = expect(storage.create(pet('old'))).rejects.toMatchObject({ code: 'service_unavailable' })
    await written
    await pool.query('TRUNCATE petstore.pets RESTART IDENTITY')
    release()
    await outcome
    expect((await pool.query('SELECT FROM petstore.durable')).rows).toEqual([])
  })

  test('after a failed save, a create adds no animal until a save succeeds', async () => {
    let canSave = false
    const query: PostgresClient['query'] = async (text, values) => {
      if (text.includes(SAVE) && !canSave) throw Object.assign(new Error('cancelled'), { code: '57014' })
      return pool.query(text, values)
    }
    const { storage } = postgres({ query })
    for (const name of ['first', 'second', 'third'])
      await expect(storage.create(pet(name))).rejects.toMatchObject({ code: 'service_unavailable' })
    canSave = true
    await storage.create(pet('last'))
    expect(await listed()).toEqual(['first', 'last'])
  })

  test.each(['durable', 'server_runs'])('a create adds no animal while the table %s is locked', async (table) => {
    const client = await pool.connect()
    await client.query(`BEGIN; LOCK TABLE petstore.${table} IN ACCESS EXCLUSIVE MODE`)
    const { storage } = postgres(pool, { lockTimeout: 50 })
    await expect(storage.create(pet('locked out'))).rejects.toMatchObject({ code: 'service_unavailable' })
    await client.query('ROLLBACK')
    client.release()
    await storage.create(pet('next'))
    expect(await listed()).toEqual(['next'])
  })

  test('list returns animals imported by a role that may only INSERT', async () => {
    await pool.query('DROP ROLE IF EXISTS importer; CREATE ROLE importer LOGIN')
    await pool.query('GRANT USAGE ON SCHEMA petstore TO importer; GRANT INSERT ON petstore.pets TO importer')
    const importer = openPool(server.url.replace('petstore@', 'importer@'))
    await importer.query("INSERT INTO petstore.pets VALUES (1, 'imported', 1, 'sold')")
    await importer.end()
    expect(await listed()).toEqual(['imported'])
    await pool.query('DROP OWNED BY importer; DROP ROLE importer')
  })

  test('after TRUNCATE, a new animal cannot be read before it is on disk', async () => {
    await postgres(pool).storage.create(pet('old'))
    await pool.query('TRUNCATE petstore.pets RESTART IDENTITY')
    const { storage, written, release } = slowProcess(pool)
    const created = storage.create(pet('new'))
    await written
    expect(await listed()).toEqual([])
    release()
    await created
  })

  test('adding an animal deletes old rows of the table `durable`', async () => {
    // With this publication, PostgreSQL would reject the DELETE if the table had no replica identity.
    await pool.query('CREATE PUBLICATION everything FOR ALL TABLES')
    await pool.query('INSERT INTO petstore.durable SELECT n FROM generate_series(1, 1000) AS n')
    await postgres(pool).storage.create(pet('new'))
    await until(async () => (await pool.query('SELECT FROM petstore.durable')).rows.length <= 101)
    await pool.query('DROP PUBLICATION everything')
    expect((await pool.query('SELECT max(up_to)::int AS max FROM petstore.durable')).rows).toEqual([{ max: 1000 }])
  })

  test("a create in the host's transaction leaves synchronous_commit on", async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await postgres(client).storage.create(pet('in a transaction'))
    expect((await client.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }])
    await client.query('COMMIT')
    client.release()
    expect(await listed()).toEqual(['in a transaction'])
  })
})

import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import type { Pet } from '../../../src/index.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' }) as const

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('an animal on PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  beforeAll(async () => {
    server = await startPostgres()
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

  /** Returns the storage of a process that marks its animals as durable only after `release` is called. */
  function slowProcess() {
    let release = () => {}
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    let arrive = () => {}
    const added = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const query: PostgresClient['query'] = async (text, values) => {
      if (text.includes('mark_durable')) {
        arrive()
        await released
      }
      return pool.query(text, values)
    }
    return { storage: postgres({ query }).storage, added, release }
  }

  const listed = async () => (await postgres(pool).storage.list({ limit: 99 })).map(({ name }) => name)
  const statusList = async () =>
    (await postgres(pool).storage.list({ limit: 99, status: 'sold' })).map(({ name }) => name)

  test('an animal cannot be read before it is on disk', async () => {
    const { storage, added, release } = slowProcess()
    const created = storage.create(pet('slow'))
    await added
    expect([await listed(), await statusList(), await storage.get(1n)]).toEqual([[], [], undefined])
    release()
    const { id } = await created
    expect([await listed(), await statusList(), (await storage.get(id))?.name]).toEqual([['slow'], ['slow'], 'slow'])
  })

  test('an animal that waits for the disk delays no other process', async () => {
    const { storage, added, release } = slowProcess()
    const created = storage.create(pet('slow'))
    await added
    await postgres(pool).storage.create(pet('fast'))
    expect(await listed()).toEqual(['slow', 'fast'])
    release()
    await created
  })

  test('an animal can be read after an import with SQL', async () => {
    await pool.query("INSERT INTO petstore.pets SELECT n, 'imported ' || n, 1, 'sold' FROM generate_series(1, 3) AS n")
    expect(await statusList()).toEqual(['imported 1', 'imported 2', 'imported 3'])
  })

  test('an animal that was read survives a crash of PostgreSQL', async () => {
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

  test('adding animals leaves few durable ids behind', async () => {
    await pool.query('INSERT INTO petstore.durable SELECT n FROM generate_series(1, 1000) AS n')
    // About one call of `add_pets` in a hundred removes ids.
    await pool.query("SELECT petstore.add_pets('[]', 0) FROM generate_series(1, 5000)")
    expect((await pool.query('SELECT up_to::int FROM petstore.durable')).rows).toEqual([{ up_to: 1000 }])
  })

  test("an animal in the host's transaction leaves the commit synchronous", async () => {
    const client = await pool.connect()
    await client.query('BEGIN')
    await postgres(client).storage.create(pet('in a transaction'))
    expect((await client.query('SHOW synchronous_commit')).rows).toEqual([{ synchronous_commit: 'on' }])
    await client.query('COMMIT')
    client.release()
    expect(await listed()).toEqual(['in a transaction'])
  })
})

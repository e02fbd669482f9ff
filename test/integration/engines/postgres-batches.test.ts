import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { countRequest, newQuotaState } from '../../../src/back-end.ts'
import { createPetStore } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { addAnimal } from '../../support/load.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' }) as const
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('batches on PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  let host: Client
  beforeAll(async () => {
    server = await startPostgres()
    pool = openPool(server.url, { max: 12 })
    host = new Client(server.url)
    await host.connect()
    await postgres(pool).migrate()
  })
  beforeEach(async () => {
    // If a test has failed, its transaction may still be open.
    await host.query('ROLLBACK')
    await pool.query('TRUNCATE petstore.pets, petstore.quota, petstore.anonymous')
  })
  afterAll(async () => {
    await host.end()
    await pool.end()
    await server.remove()
  })

  /** Returns a PostgreSQL client that counts only statements with `word`, because others may run in the background. */
  function counting(word: string) {
    const counts = { statements: 0 }
    const query: PostgresClient['query'] = (text, values) => {
      if (text.includes(word)) counts.statements++
      return pool.query(text, values)
    }
    return { client: { query }, counts }
  }

  const names = async () =>
    (await pool.query('SELECT name FROM petstore.pets ORDER BY id')).rows.map(({ name }) => name)

  /** Adds an animal in a transaction that stays open. This transaction holds the lock that every create needs. */
  async function holdLock(): Promise<void> {
    await host.query('BEGIN')
    await postgres(host).storage.create(pet('of the host'))
  }

  const waitForLock = () =>
    until(async () => (await pool.query(`SELECT 1 FROM pg_locks WHERE NOT granted`)).rows.length > 0)

  test('animals that are added at the same time share statements and keep their order', async () => {
    const { client, counts } = counting('add_pets')
    const { storage } = postgres(client)
    const created = await Promise.all(times(500, (i) => storage.create(pet(`${i}`))))
    expect(counts.statements).toBe(1)
    expect(await names()).toEqual(times(500, String))
    expect(created.map(({ id }) => id)).toEqual(created.map(({ id }) => id).toSorted((a, b) => (a < b ? -1 : 1)))
    expect(created.map(({ name }) => name)).toEqual(times(500, String))
  })

  test('a name of a wrong type does not make other calls of create fail', async () => {
    const { storage } = postgres(pool)
    const [wrong, right] = await Promise.allSettled([storage.create(pet(1n as never)), storage.create(pet('Rex'))])
    expect([wrong.status, right.status]).toEqual(['rejected', 'fulfilled'])
    expect(await names()).toEqual(['Rex'])
  })

  test('an animal that PostgreSQL rejects does not make other calls of create fail', async () => {
    const { storage } = postgres(pool)
    const given = times(9, (i) => (i % 4 === 2 ? `\u0000${i}` : `${i}`))
    const results = await Promise.allSettled(given.map((name) => storage.create(pet(name))))
    expect(results.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([2, 6])
    expect(await names()).toEqual(['0', '1', '3', '4', '5', '7', '8'])
  })

  test('an animal with a large name is added by a separate statement', async () => {
    const { client, counts } = counting('add_pets')
    const { storage } = postgres(client)
    await Promise.all(['a', 'b', 'x'.repeat(600_000), 'c'].map((name) => storage.create(pet(name))))
    expect(counts.statements).toBe(3)
  })

  test('if a client disconnects before its statement is sent, no animal is added', async () => {
    const { storage } = postgres(pool)
    await holdLock()
    const leaving = new AbortController()
    const first = storage.create(pet('first'))
    await waitForLock()
    const second = storage.create(pet('second'), { signal: leaving.signal })
    const third = storage.create(pet('third'))
    leaving.abort()
    await Promise.all([expect(second).rejects.toMatchObject({ name: 'AbortError' }), host.query('ROLLBACK')])
    await Promise.all([first, third])
    expect(await names()).toEqual(['first', 'third'])
  })

  test('calls of create that wait for a lock share one connection', async () => {
    const { storage } = postgres(pool, { lockTimeout: 60_000 })
    await holdLock()
    const first = storage.create(pet('first'))
    await waitForLock()
    const others = times(300, (i) => storage.create(pet(`${i}`)))
    expect(await storage.list({ limit: 9 })).toEqual([])
    expect((await pool.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rows).toHaveLength(1)
    await host.query('ROLLBACK')
    await Promise.all([first, ...others])
    expect(await names()).toEqual(['first', ...times(300, String)])
  })

  test('a create that waits too long adds no animal', async () => {
    const backEnd = postgres(pool, { lockTimeout: 50 })
    const { token } = await backEnd.keyStore.issue({ plan: 'free' })
    const plans = { free: { perMinute: 1e6, perDay: 1e6 } }
    const errors: unknown[] = []
    const petStore = createPetStore({ ...backEnd, plans, onError: (error) => errors.push(error) })
    await holdLock()
    const responses = await Promise.all(times(300, () => addAnimal(petStore, token)))
    expect(new Set(responses.map(({ status }) => status))).toEqual(new Set([503]))
    expect(errors).toHaveLength(300)
    expect((errors[0] as Error).cause).toMatchObject({ code: '55P03' })
    await host.query('ROLLBACK')
    expect((await addAnimal(petStore, token)).status).toBe(201)
    expect(await names()).toEqual(['Rex'])
  })

  test('with one connection, listing does not wait for a locked table of idempotency keys', async () => {
    const client = new Client(server.url)
    await client.connect()
    const { storage } = postgres(client, { lockTimeout: 50 })
    await host.query('BEGIN; LOCK TABLE petstore.used_keys')
    const once = storage.createOnce?.(pet('a'), { scope: 'account:a', key: 'k', fingerprint: 'f' })
    await expect(once).rejects.toMatchObject({ code: 'service_unavailable' })
    expect(await storage.list({ limit: 9 })).toEqual([])
    await host.query('ROLLBACK')
    await client.end()
  })

  test('spend and create fail with service_unavailable while their tables are locked', async () => {
    // On a new connection, PostgreSQL must first compile the functions. This must not wait for the locked tables either.
    const fresh = openPool(server.url)
    const { storage, quota } = postgres(fresh, { lockTimeout: 20 })
    const limits = { perMinute: 5, perDay: 10 }
    await host.query('BEGIN; LOCK TABLE petstore.quota, petstore.pets IN ACCESS EXCLUSIVE MODE')
    const spent = quota.spend({ subject: 'key:a', anonymous: false, limits, ban: false, now: 0 })
    const unavailable = { code: 'service_unavailable', cause: { code: '55P03' } }
    await Promise.all([
      expect(spent).rejects.toMatchObject(unavailable),
      expect(storage.create(pet('a'))).rejects.toMatchObject(unavailable),
    ])
    await host.query('ROLLBACK')
    await fresh.end()
  })

  test("create and spend keep the lock_timeout of the host's transaction", async () => {
    await host.query("BEGIN; SET LOCAL lock_timeout = '77s'")
    const { storage, quota } = postgres(host)
    await storage.create(pet('a'))
    await quota.spend({ subject: 'a', anonymous: true, limits: { perMinute: 1, perDay: 1 }, ban: false, now: 0 })
    expect((await host.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '77s' }])
    await host.query('ROLLBACK')
  })

  test('PostgreSQL counts as countRequest does, also if the limits change between requests', async () => {
    const clock = manualClock()
    const { client, counts } = counting('.spend(')
    const { quota } = postgres(client, { clock })
    const rules = [
      { limits: { perMinute: 40, perDay: 90 }, ban: { afterRefusals: 30, seconds: 300 } },
      { limits: { perMinute: 60, perDay: 50 }, ban: false },
    ] as const
    const state = newQuotaState()
    const requests = times(200, (i) => ({
      ...(rules[Math.floor(i / 25) % 2] as (typeof rules)[0]),
      subject: 'account:a',
      anonymous: false,
      now: clock.now(),
    }))
    const expected = requests.map((request) => countRequest(state, request))
    expect(await Promise.all(requests.map((request) => quota.spend(request)))).toEqual(expected)
    expect(counts.statements).toBe(1)
  })

  test('if four processes call spend in different orders, each subject gets exactly its limit', async () => {
    const subjects = times(60, (i) => `key:${i}`)
    const processes = times(4, () => postgres(pool).quota)
    const request = { anonymous: false, limits: { perMinute: 1e6, perDay: 5 }, ban: false, now: 0 } as const
    const granted = new Map<string, number>()
    const spend = async (process: number, subject: string) => {
      const count = await processes[process]?.spend({ ...request, subject })
      if (count?.granted) granted.set(subject, (granted.get(subject) ?? 0) + 1)
    }
    const rounds = times(12, (round) => {
      const order = round % 2 === 0 ? subjects : subjects.toReversed()
      return Promise.all(order.map((subject) => spend(round % 4, subject)))
    })
    await Promise.all(rounds)
    expect([...granted.values()]).toEqual(times(60, () => 5))
  })
})

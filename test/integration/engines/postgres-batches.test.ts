import type { Client } from 'pg'
import { beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { countRequest, newQuotaState } from '../../../src/back-end.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { waitForLocks } from '../../support/postgres-back-end.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const pet = (name: string) => ({ name, categoryId: 1n, status: 'sold' }) as const
const times = <T>(count: number, make: (index: number) => T) => Array.from({ length: count }, (_, index) => make(index))

describe.skipIf(noPostgres)('batches on PostgreSQL', () => {
  const database = usePostgres({ max: 12 })
  let host: Client
  beforeAll(async () => {
    host = await database.connect()
    await database.renew()
  })
  beforeEach(async () => {
    // If a test has failed, its transaction may still be open.
    await host.query('ROLLBACK')
    await database.pool.query('TRUNCATE petstore.pets, petstore.used_keys, petstore.quota')
  })

  /** Returns a PostgreSQL client that counts only statements with `word`, because others may run in the background. */
  function counting(word: string) {
    const counts = { statements: 0 }
    const query: PostgresClient['query'] = (text, values) => {
      if (text.includes(word)) counts.statements++
      return database.pool.query(text, values)
    }
    return { client: { query }, counts }
  }

  const names = async () =>
    (await database.pool.query('SELECT name FROM petstore.pets ORDER BY id')).rows.map(({ name }) => name)

  /** Adds an animal in a transaction that stays open. This transaction holds the turn, which every create needs. */
  async function holdLock(): Promise<void> {
    await host.query('BEGIN')
    await postgres(host).storage.create(pet('of the host'))
  }

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
    const { storage } = postgres(database.pool)
    const [wrong, right] = await Promise.allSettled([storage.create(pet(1n as never)), storage.create(pet('Rex'))])
    expect([wrong.status, right.status]).toEqual(['rejected', 'fulfilled'])
    expect(await names()).toEqual(['Rex'])
  })

  test.each([
    ['PostgreSQL cannot store', (i: number) => `\u0000${i}`, 1],
    ['a constraint of the application rejects', (i: number) => `refused ${i}`, 1 + 100],
  ])('an animal that %s fails alone', async (_, nameOf, statements) => {
    await database.pool.query("ALTER TABLE petstore.pets ADD CONSTRAINT polite CHECK (name NOT LIKE 'refused%')")
    const { client, counts } = counting('add_pets')
    const { storage } = postgres(client)
    const results = await Promise.allSettled(times(100, (i) => storage.create(pet(i === 23 ? nameOf(i) : `${i}`))))
    await database.pool.query('ALTER TABLE petstore.pets DROP CONSTRAINT polite')
    expect(results.flatMap(({ status }, i) => (status === 'rejected' ? [i] : []))).toEqual([23])
    expect(await names()).toEqual(times(100, String).filter((name) => name !== '23'))
    expect(counts.statements).toBe(statements)
  })

  test('the end of the ids is 503 after one statement', async () => {
    await database.pool.query(`SELECT setval('petstore.pet_ids', ${2n ** 63n - 3n})`)
    const { client, counts } = counting('add_pets')
    const { storage } = postgres(client)
    const results = await Promise.allSettled(times(100, (i) => storage.create(pet(`${i}`))))
    await database.pool.query("SELECT setval('petstore.pet_ids', 1, false)")
    const codes = results.map((result) => result.status === 'rejected' && result.reason.code)
    expect(new Set(codes)).toEqual(new Set(['service_unavailable']))
    expect(counts.statements).toBe(1)
  })

  test('an animal with a large name is added by a separate statement', async () => {
    const { client, counts } = counting('add_pets')
    const { storage } = postgres(client)
    await Promise.all(['a', 'b', 'x'.repeat(600_000), 'c'].map((name) => storage.create(pet(name))))
    expect(counts.statements).toBe(3)
  })

  test('if a client disconnects before its statement is sent, no animal is added', async () => {
    const { storage } = postgres(database.pool)
    await holdLock()
    const leaving = new AbortController()
    const first = storage.create(pet('first'))
    await waitForLocks(database.pool)
    const second = storage.create(pet('second'), {}, { signal: leaving.signal })
    const third = storage.create(pet('third'))
    leaving.abort()
    await Promise.all([expect(second).rejects.toMatchObject({ name: 'AbortError' }), host.query('ROLLBACK')])
    await Promise.all([first, third])
    expect(await names()).toEqual(['first', 'third'])
  })

  test('calls of create that wait for a lock share one connection', async () => {
    const { storage } = postgres(database.pool, { lockTimeout: 60_000 })
    await holdLock()
    const first = storage.create(pet('first'))
    await waitForLocks(database.pool)
    const others = times(300, (i) => storage.create(pet(`${i}`)))
    expect(await storage.list({ limit: 9 })).toEqual([])
    expect((await database.pool.query('SELECT 1 FROM pg_locks WHERE NOT granted')).rows).toHaveLength(1)
    await host.query('ROLLBACK')
    await Promise.all([first, ...others])
    expect(await names()).toEqual(['first', ...times(300, String)])
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
    const processes = times(4, () => postgres(database.pool).quota)
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

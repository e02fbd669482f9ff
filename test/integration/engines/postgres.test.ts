import { beforeEach, describe, expect, test } from 'vitest'
import { queryOf } from '../../../adapters/back-ends/postgres/connection.ts'
import { type PostgresClient, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { migrate } from '../../../adapters/back-ends/postgres/migrate.ts'
import { STEPS } from '../../../adapters/back-ends/postgres/schema.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { until } from '../../support/until.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const
const request = {
  subject: 'key:a',
  anonymous: false,
  limits: { perMinute: 5, perDay: 10 },
  ban: { afterRefusals: 3, seconds: 60 },
  now: 0,
}

describe.skipIf(noPostgres)('PostgreSQL', () => {
  const database = usePostgres({ max: 12 })
  beforeEach(() => database.pool.query('DROP SCHEMA IF EXISTS petstore CASCADE'))

  test('ten pools can migrate at the same time', async () => {
    const pools = Array.from({ length: 10 }, () => openPool(database.url, { max: 1 }))
    for (let round = 0; round < 5; round++) {
      await database.pool.query('DROP SCHEMA IF EXISTS petstore CASCADE')
      await Promise.all([...pools, ...pools].map((each) => postgres(each).migrate()))
    }
    await Promise.all(pools.map((each) => each.end()))
    expect((await database.pool.query('SELECT version FROM petstore.versions ORDER BY version')).rows).toEqual(
      STEPS.map((_, index) => ({ version: index + 1 })),
    )
    const backEnd = postgres(database.pool)
    const created = await backEnd.storage.create(pet)
    await backEnd.migrate()
    expect(await backEnd.storage.list({ limit: 9 })).toEqual([created])
  })

  test('migrate runs only the steps that are missing', async () => {
    const backEnd = postgres(database.pool)
    await backEnd.migrate()
    const created = await backEnd.storage.create(pet)
    const steps = [...STEPS, 'ALTER TABLE pets ADD COLUMN weight int DEFAULT 7;']
    const query = queryOf(database.pool)
    await Promise.all([migrate(query, '"petstore"', steps), migrate(query, '"petstore"', steps)])
    expect((await database.pool.query('SELECT weight FROM petstore.pets')).rows).toEqual([{ weight: 7 }])
    expect((await backEnd.storage.list({ limit: 9 }))[0]).toEqual(created)
    await expect(backEnd.migrate()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(
        `option schema: expected a schema of version ${STEPS.length} at most, got version ${steps.length}. A later`,
      ),
    })
  })

  test('migrate keeps the search_path of a transaction that the application has begun', async () => {
    const client = await database.pool.connect()
    await client.query('BEGIN; SET LOCAL search_path = elsewhere')
    await postgres(client).migrate()
    expect((await client.query('SHOW search_path')).rows).toEqual([{ search_path: 'elsewhere' }])
    await client.query('ROLLBACK')
    client.release()
  })

  test.each([
    'our store',
    'Straße',
    `"; DROP TABLE x; --'$petstore$\\`,
    'x'.repeat(63),
    'select',
    '🐕',
    'a$spend$b',
    '$spend$$spend_$',
  ])('the schema name %s works', async (schema) => {
    const [ours, other] = [postgres(database.pool, { schema }), postgres(database.pool)]
    await ours.migrate()
    await ours.migrate()
    await other.migrate()
    const created = await ours.storage.create(pet)
    expect(await ours.storage.get(created.id)).toEqual({ ...pet, id: created.id })
    const { token, key } = await ours.keyStore.issue({ plan: 'pro' })
    expect(await ours.keyStore.find(token)).toEqual(key)
    expect((await ours.quota.spend(request)).usedInDay).toBe(1)
    expect([await other.storage.list({ limit: 1 }), await other.keyStore.list({ limit: 1_000 })]).toEqual([[], []])
  })

  test.each(['', 'x'.repeat(64), '🐕'.repeat(16), 'a\u0000b', 'a\ud800', 'pg_pets', 7])(
    'the schema name %j is rejected',
    (schema) => {
      const error = expect.objectContaining({
        code: 'invalid_option',
        message: expect.stringMatching(/^option schema: /),
      })
      expect(() => postgres(database.pool, { schema: schema as string })).toThrow(error)
    },
  )

  test('a role that cannot create schemas can migrate an existing schema', async () => {
    await database.pool.query('CREATE ROLE modest LOGIN')
    await database.pool.query('CREATE SCHEMA petstore AUTHORIZATION modest')
    const modest = openPool(database.url.replace('petstore@', 'modest@'))
    const backEnd = postgres(modest)
    await backEnd.migrate()
    await backEnd.migrate()
    expect((await backEnd.storage.create(pet)).name).toBe('Rex')
    await modest.end()
  })

  test.each(['repeatable read', 'serializable'])('counts exactly under isolation level %s', async (isolation) => {
    const options = `-c default_transaction_isolation=${isolation.replace(' ', '\\ ')}`
    const strict = openPool(database.url, { max: 8, options })
    const backEnd = postgres(strict)
    await Promise.all([backEnd.migrate(), backEnd.migrate(), backEnd.migrate()])
    const counts = await Promise.all(
      Array.from({ length: 40 }, () => backEnd.quota.spend({ ...request, limits: { perMinute: 9, perDay: 9 } })),
    )
    expect(counts.filter(({ granted }) => granted).length).toBe(9)
    await Promise.all(Array.from({ length: 40 }, () => backEnd.storage.create(pet)))
    expect(await backEnd.storage.list({ limit: 99 })).toHaveLength(40)
    await strict.end()
  })

  test('removes old counters and keeps current counters', async () => {
    const clock = manualClock()
    const { migrate, quota } = postgres(database.pool, { clock })
    await migrate()
    const spend = (subject: string) => quota.spend({ ...request, subject })
    for (let i = 0; i < 50; i++) await spend(`address:${i}`)
    clock.advance(4 * 86_400_000)
    for (let i = 0; i < 500; i++) await spend(`key:${i % 3}`)
    const subjects = async () => (await database.pool.query('SELECT subject FROM petstore.quota ORDER BY subject')).rows
    await until(async () => (await subjects()).length === 3)
    expect(await subjects()).toEqual([{ subject: 'key:0' }, { subject: 'key:1' }, { subject: 'key:2' }])
  })

  test('a failed removal of old counters is reported once', async () => {
    const errors: unknown[] = []
    const { migrate, quota } = postgres(database.pool, { onError: (error) => errors.push(error) })
    await migrate()
    await database.pool.query(`CREATE FUNCTION petstore.refuse() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE 'no counter may be removed'; END $$`)
    await database.pool.query(
      'CREATE TRIGGER refuse BEFORE DELETE ON petstore.quota EXECUTE FUNCTION petstore.refuse()',
    )
    for (let i = 0; i < 1_001; i++) await quota.spend({ ...request, subject: `key:${i % 3}` })
    await until(async () => errors.length > 0)
    expect(errors).toEqual([expect.objectContaining({ message: 'no counter may be removed' })])
  })

  test.each(['LATIN1', 'SQL_ASCII'])('migrate refuses a database with the encoding %s', async (encoding) => {
    const name = encoding.toLowerCase()
    await database.pool.query(
      `CREATE DATABASE ${name} ENCODING '${encoding}' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0`,
    )
    const other = openPool(database.url.replace(/postgres$/, name))
    const migrated = postgres(other).migrate()
    await expect(migrated).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining(`expected a database with the encoding UTF8, got ${encoding}`),
    })
    expect((await other.query("SELECT to_regnamespace('petstore') AS schema")).rows).toEqual([{ schema: null }])
    await other.end()
  })

  test('migrate calls onError if PostgreSQL commits without waiting for the disk', async () => {
    const careless = openPool(database.url, { options: '-c synchronous_commit=off' })
    const errors: unknown[] = []
    const options = { onError: (error: unknown) => errors.push(error) }
    await postgres(database.pool, options).migrate()
    expect(errors).toEqual([])
    await postgres(careless, options).migrate()
    await careless.end()
    expect(errors.map(String)).toEqual([expect.stringContaining('synchronous_commit is off')])
  })

  test('counts and new keys have the time of the clock of PostgreSQL', async () => {
    const { migrate, quota, keyStore } = postgres(database.pool)
    await migrate()
    const time = async () =>
      Number((await database.pool.query('SELECT date_part($1, clock_timestamp())', ['epoch'])).rows[0].date_part)
    const before = Math.floor((await time()) * 1000)
    const { now } = await quota.spend(request)
    const { createdAt = 0 } = (await keyStore.issue({ plan: 'free' })).key
    const after = (await time()) * 1000
    expect([now >= before, createdAt >= now, createdAt <= after]).toEqual([true, true, true])
  })

  test('stores no token in the database', async () => {
    const { migrate, keyStore } = postgres(database.pool)
    await migrate()
    const { token } = await keyStore.issue({ plan: 'pro', label: 'a label' })
    await keyStore.find(token)
    const { rows } = await database.pool.query('SELECT k::text FROM petstore.keys AS k')
    expect(JSON.stringify(rows)).toContain('a label')
    expect(JSON.stringify(rows)).not.toContain(token.slice(4, 20))
  })

  test('sends no named statements, because poolers do not support them', async () => {
    const sent: unknown[][] = []
    const spy: PostgresClient = {
      query: (...args) => {
        sent.push(args)
        return database.pool.query(...args)
      },
    }
    const { migrate, storage, keyStore, quota } = postgres(spy)
    await migrate()
    await Promise.all([storage.create(pet), storage.get(1n), storage.list({ limit: 1 }), quota.spend(request)])
    await keyStore.revoke((await keyStore.issue({ plan: 'free' })).key.id)
    const settings = /UPDATE[^;]* SET|CONFLICT[^;]* SET|plpgsql SET|= 0 SET|ALTER COLUMN id SET|SET LOCAL/g
    for (const [text] of sent)
      expect(String(text).replaceAll(settings, '')).not.toMatch(/\b(?:SET|LISTEN|PREPARE|TEMP)\b \w/)
    expect(sent.filter(([text]) => String(text).startsWith('DO '))).toHaveLength(1)
  })
})

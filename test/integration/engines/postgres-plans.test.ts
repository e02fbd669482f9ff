import type { Client } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { type PostgresValue, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { keyStatements, petStatements, quotaStatements } from '../../../adapters/back-ends/postgres/statements.ts'
import { BUCKET_SIZE, BUCKETS } from '../../../adapters/back-ends/shared/counters.ts'
import { type PetQuery, petStatuses } from '../../../src/index.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const ANIMALS = 1_000_000

interface Plan {
  readonly 'Node Type': string
  readonly Plans?: readonly Plan[]
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

describe.skipIf(noPostgres)('statements of PostgreSQL at a million animals', () => {
  const database = usePostgres({}, { settings: { autovacuum: 'off' } })
  let client: Client
  beforeAll(async () => {
    client = await database.connect()
    await database.renew()
  })

  /** Adds animals: old animals have one status, new animals another. A third status is rare, so a scan over ids finds it late. */
  const fill = (older: string, newer: string, rare: string) =>
    client.query(`INSERT INTO petstore.pets (id, name, category_id, status)
      SELECT n, 'animal ' || n, n % 5,
        CASE WHEN n % 1000 = 0 THEN '${rare}' WHEN n < ${ANIMALS / 10} THEN '${older}' ELSE '${newer}' END
      FROM generate_series(1, ${ANIMALS}) AS n`)

  const pages: PetQuery[] = [undefined, ...petStatuses].flatMap((status) =>
    [undefined, BigInt(ANIMALS / 2), BigInt(ANIMALS - 10), BigInt(ANIMALS)].map((after) => ({
      limit: 21,
      status,
      after,
    })),
  )

  /** Returns the statement that the storage sends for a page. */
  async function statementOf(page: PetQuery): Promise<{ text: string; values: PostgresValue[] }> {
    const sent: { text: string; values: PostgresValue[] }[] = []
    const query = async (text: string, values: PostgresValue[] = []) => {
      sent.push({ text, values })
      return { rows: [] }
    }
    await postgres({ query }).storage.list(page)
    return sent[0] as (typeof sent)[0]
  }

  async function expectFrugal(page: PetQuery, state: string): Promise<void> {
    const { text, values } = await statementOf(page)
    await client.query(`PREPARE page AS ${text}`)
    const literals = values.map((value) => `'${value}'`).join(', ')
    const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) EXECUTE page (${literals})`)
    await client.query('DEALLOCATE page')
    const root = (rows[0] as { 'QUERY PLAN': [{ Plan: Plan }] })['QUERY PLAN'][0].Plan
    const nodes = nodesOf(root)
    const context = `${page.status} after ${page.after}, ${state}`
    const names = nodes.map((node) => node['Node Type'])
    expect(names, context).toEqual(['Limit', 'Index Scan'])
    expect(
      nodes.map((node) => node['Rows Removed by Filter'] ?? 0),
      context,
    ).toEqual([0, 0])
    expect(root['Shared Hit Blocks'] + root['Shared Read Blocks'], context).toBeLessThanOrEqual(30)
  }

  const states: Record<string, string[]> = {
    'without statistics': [],
    'after ANALYZE': ['ANALYZE petstore.pets'],
    'after ANALYZE of other animals': [
      'TRUNCATE petstore.pets',
      "INSERT INTO petstore.pets SELECT n, 'x', 1, 'pending' FROM generate_series(1, 1000) AS n",
      'ANALYZE petstore.pets',
      'TRUNCATE petstore.pets',
    ],
  }

  test.each([
    ['sold', 'available', 'pending'],
    ['available', 'sold', 'pending'],
    ['pending', 'available', 'sold'],
  ])('any page reads few blocks: old status %s, new %s, rare %s', async (...statuses) => {
    await client.query('TRUNCATE petstore.pets')
    await fill(...statuses)
    for (const [state, statements] of Object.entries(states)) {
      for (const statement of statements) await client.query(statement)
      if (statements.length > 1) await fill(...statuses)
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`SET plan_cache_mode = ${mode}`)
        for (const page of pages) await expectFrugal(page, `${state}, ${mode}`)
      }
    }
  })

  const statements = {
    pets: petStatements('petstore'),
    keys: keyStatements('petstore'),
    quota: quotaStatements('petstore'),
  }
  const rules = { round: 1, requests: 1, per_minute: 9, per_day: 9, after_refusals: 3, ban_length: 1 }
  const counters = JSON.stringify([
    { subject: 'address:new', bucket: 7, ...rules },
    { subject: 'key:70000', bucket: null, ...rules },
  ])
  const animal = { name: 'Rex', category: '1', status: 'sold' }
  const plain = JSON.stringify([animal])
  const keyed = JSON.stringify([{ ...animal, key: 'order-1', fingerprint: 'f' }])
  const time = null

  /** The values of each statement. A statement without values fails the check of types. */
  const values: {
    readonly [Group in keyof typeof statements]: Record<keyof (typeof statements)[Group], PostgresValue[]>
  } = {
    pets: {
      page: ['500000', 21],
      pageOfStatus: ['500000', 21, 'sold'],
      pet: ['500000'],
      addPets: [plain, keyed, time, 4_000],
      updatePet: ['500000', '{"status":"sold"}', '{"name":"Rex"}', 4_000],
      removePet: ['500001', '{}', 4_000],
      restorePets: [JSON.stringify([{ id: '500001', ...animal }]), 4_000],
      count: [],
      countOfStatus: ['sold'],
      removeExpiredKeys: [time],
    },
    keys: {
      findKey: ['hash 70000', time],
      getKey: ['key_70000'],
      listKeys: [time, 'key_70000', 'active', 20],
      listKeysOfAccount: [time, 'account 7', 'key_70000', null, 20],
      addKey: ['new', 'new hash', 'pro', null, null, null, null, 'read', null, time],
      updateKey: ['{"plan":"free"}', 'key_70000'],
      rotateKey: ['newer hash', 60_000, time, 'key_70000'],
      suspendKey: [time, 'key_70001'],
      resumeKey: ['key_70001'],
      revokeKey: [time, 'key_70002'],
      removeKey: [time, 'key_70002'],
      recordKeyUse: ['2030-01-31', '["key_70003","key_70004"]'],
    },
    quota: {
      spend: [counters, 1, time, 4_000],
      peek: ['key:70000', time],
      reset: ['key:70000'],
      prune: [time],
    },
  }

  /** How many rows a statement may read, if it is not `FEW`. The list of keys is all keys, and a count reads all animals. */
  const most: Readonly<Record<string, number>> = {
    count: Number.POSITIVE_INFINITY,
    countOfStatus: Number.POSITIVE_INFINITY,
    removeExpiredKeys: 20_000,
    keys: 100_000,
    spend: 2 * BUCKET_SIZE + 10,
    prune: 2_000,
  }
  const FEW = 30

  async function fillAll(): Promise<void> {
    await client.query('TRUNCATE petstore.pets')
    await fill('available', 'pending', 'sold')
    await client.query(`SELECT setval('petstore.pet_ids', ${ANIMALS})`)
    await client.query(`INSERT INTO petstore.used_keys
      SELECT sha256(n::text::bytea), 'x', '{}', n * 1000 FROM generate_series(1, 200000) AS n`)
    await client.query(`INSERT INTO petstore.keys (id, token_sha256, plan, created_at)
      SELECT 'key_' || n, 'hash ' || n, 'free', 1 FROM generate_series(1, 100000) AS n`)
    await client.query(`INSERT INTO petstore.quota (subject, ends_at)
      SELECT 'key:' || n, n FROM generate_series(1, 100000) AS n`)
    await client.query(`INSERT INTO petstore.quota (subject, ends_at, bucket)
      SELECT 'address:' || n, n, n % ${BUCKETS} FROM generate_series(1, ${BUCKETS * BUCKET_SIZE}) AS n`)
  }

  /** Returns how many rows of tables this connection has read. Without a transaction, PostgreSQL may reset the number. */
  async function rowsRead(): Promise<number> {
    const { rows } = await client.query(`SELECT coalesce(sum(seq_tup_read + idx_tup_fetch), 0)::int AS read
      FROM pg_stat_xact_user_tables WHERE schemaname = 'petstore'`)
    return rows[0].read
  }

  async function rowsReadBy(text: string, given: PostgresValue[]): Promise<number> {
    await client.query('BEGIN')
    const before = await rowsRead()
    await client.query(text, given)
    const after = await rowsRead()
    await client.query('ROLLBACK')
    return after - before
  }

  test('no statement reads more rows than it needs', async () => {
    await fillAll()
    for (const analyze of [false, true]) {
      if (analyze) await client.query('ANALYZE')
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await client.query(`SET plan_cache_mode = ${mode}`)
        for (const [group, ofGroup] of Object.entries(statements))
          for (const [name, text] of Object.entries(ofGroup)) {
            const given = (values[group as keyof typeof values] as Record<string, PostgresValue[]>)[
              name
            ] as PostgresValue[]
            const context = `${group}.${name}, ${mode}, ${analyze ? 'after' : 'before'} ANALYZE`
            expect(await rowsReadBy(text, given), context).toBeLessThanOrEqual(most[name] ?? FEW)
          }
      }
    }
  })
})

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

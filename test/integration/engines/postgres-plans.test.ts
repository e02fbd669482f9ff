import { Client } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresValue, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { type PetQuery, petStatuses } from '../../../src/index.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

const ANIMALS = 1_000_000

interface Plan {
  readonly 'Node Type': string
  readonly Plans?: readonly Plan[]
  readonly 'Rows Removed by Filter'?: number
  readonly 'Shared Hit Blocks': number
  readonly 'Shared Read Blocks': number
}

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('a page of PostgreSQL', () => {
  let server: PostgresServer
  let client: Client
  beforeAll(async () => {
    server = await startPostgres({ settings: { autovacuum: 'off' } })
    client = new Client(server.url)
    await client.connect()
    await postgres(client).migrate()
  })
  afterAll(async () => {
    await client.end()
    await server.remove()
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
  ])(
    'any page reads few blocks: old status %s, new %s, rare %s',
    async (...statuses) => {
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
    },
    120_000,
  )
})

function nodesOf(plan: Plan): Plan[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)]
}

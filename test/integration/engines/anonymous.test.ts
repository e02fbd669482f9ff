import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { redis } from '../../../adapters/back-ends/redis/index.ts'
import { BUCKET_SIZE, BUCKETS } from '../../../adapters/back-ends/shared/counters.ts'
import type { QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missingRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { missing } from '../../support/skips.ts'

const MAX_CLIENTS = BUCKETS * BUCKET_SIZE

function requestOf(subject: string, anonymous = true): QuotaRequest {
  return { subject, anonymous, limits: { perMinute: 2, perDay: 9 }, ban: false, now: 0 }
}

/** Counts 3 requests of one address (the third is refused), 1 request of a customer, and 15,000 requests of other addresses. */
async function flood(quota: QuotaStore): Promise<void> {
  for (let i = 0; i < 3; i++) await quota.spend(requestOf('address:refused'))
  await quota.spend(requestOf('key:customer', false))
  for (let sent = 0; sent < 15_000; sent += 500)
    await Promise.all(Array.from({ length: 500 }, (_, i) => quota.spend(requestOf(`address:${sent + i}`))))
}

async function expectKept(quota: QuotaStore): Promise<void> {
  expect(await quota.spend(requestOf('address:refused'))).toMatchObject({ granted: false })
  expect(await quota.spend(requestOf('key:customer', false))).toMatchObject({ usedInDay: 2 })
}

describe.skipIf(missingRedis())('Redis', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.remove())

  test('Redis stores a limited number of anonymous clients, which expire', async () => {
    const client = createClient({ url: server.url })
    await client.connect()
    const { quota } = redis(client, { clock: manualClock() })
    await flood(quota)
    const buckets = await client.keys('petstore:anonymous:*')
    expect(buckets.length).toBeLessThanOrEqual(BUCKETS)
    const sizes = await Promise.all(buckets.map((bucket) => client.hLen(bucket)))
    expect(Math.max(...sizes)).toBeLessThanOrEqual(BUCKET_SIZE)
    const lives = await Promise.all(buckets.map((bucket) => client.pTTL(bucket)))
    expect(Math.min(...lives)).toBeGreaterThan(0)
    expect(Math.max(...lives)).toBeLessThanOrEqual(86_400_000 + 60_000)
    await expectKept(quota)
    client.destroy()
  })
})

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
describe.skipIf(noPostgres)('PostgreSQL', () => {
  let server: PostgresServer
  beforeAll(async () => {
    server = await startPostgres()
  })
  afterAll(() => server.remove())

  test('PostgreSQL stores a limited number of anonymous clients', async () => {
    const pool = openPool(server.url)
    const backEnd = postgres(pool, { clock: manualClock() })
    await backEnd.migrate()
    await flood(backEnd.quota)
    const { rows } = await pool.query<{ clients: number }>(
      'SELECT count(*)::int AS clients FROM petstore.quota WHERE bucket IS NOT NULL',
    )
    expect(rows[0]?.clients).toBeLessThanOrEqual(MAX_CLIENTS + 10)
    expect((await pool.query('SELECT subject FROM petstore.quota WHERE bucket IS NULL')).rows).toEqual([
      { subject: 'key:customer' },
    ])
    await expectKept(backEnd.quota)
    await pool.end()
  })
})

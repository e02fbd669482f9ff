import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { querying } from '../../../adapters/back-ends/postgres/client.ts'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { migrate } from '../../../adapters/back-ends/postgres/migrate.ts'
import { namesIn } from '../../../adapters/back-ends/postgres/names.ts'
import { bucketOf } from '../../../adapters/back-ends/shared/anonymous-buckets.ts'
import { newKey } from '../../../src/index.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

const fixture = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8')
const times = <T>(count: number, make: () => T) => Array.from({ length: count }, make)

const KEPT = [
  { id: 1n, name: 'Rex', categoryId: 9223372036854775807n, status: 'available' },
  { id: 2n, name: 'Straße', categoryId: -1n },
  { id: 3n, name: 'Kiwi', categoryId: 3n, status: 'sold' },
]
/** A time before the windows of the counts in the fixtures end. */
const clock = { now: () => 1_700_000_010_000 }
const limits = { perMinute: 50, perDay: 100 }
const request = { subject: 'account:acme', anonymous: false, limits, ban: false, now: clock.now() } as const
const pet = { name: 'new', categoryId: 1n, status: 'sold' } as const

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
describe.skipIf(noPostgres)('a PostgreSQL database with tables of schema version 1', () => {
  let server: PostgresServer
  let pool: Pool
  let older: Client
  beforeAll(async () => {
    server = await startPostgres()
    pool = openPool(server.url)
  })
  beforeEach(async () => {
    await pool.query('DROP SCHEMA IF EXISTS petstore CASCADE')
    await pool.query(fixture('postgres-1.sql'))
    older = new Client(server.url)
    await older.connect()
    await older.query(fixture('postgres-1-process.sql'))
    return () => older.end()
  })
  afterAll(async () => {
    await pool.end()
    await server.remove()
  })

  const execute = async (statement: string) => (await older.query(`EXECUTE ${statement}`)).rows
  const spendOlder = () => execute(`old_spend ('account:acme', 50, 100, NULL, NULL, ${clock.now()})`)

  test('an old PostgreSQL database keeps its rows and counts', async () => {
    const { token, hash, key } = await newKey({ plan: 'pro' }, 0)
    await execute(`old_issue ('${key.id}', '${hash}', 'pro', NULL, NULL, NULL, 'kept', NULL)`)
    const { migrate, storage, keyStore, quota } = postgres(pool, { clock })
    await migrate()
    expect(await storage.list({ limit: 9 })).toEqual(KEPT)
    expect(await keyStore.find(token)).toMatchObject({ id: key.id, plan: 'pro', label: 'kept' })
    expect(await quota.spend(request)).toMatchObject({ usedInMinute: 5, usedInDay: 8, dayEndsAt: 1_700_006_400_000 })
    expect((await storage.create(pet)).id).toBe(4n)
  })

  test.each([2, 3, 4])('migrates PostgreSQL to version %i while an older process serves requests', async (version) => {
    const progress = { isOver: false }
    const served = serveOlder(progress)
    await migrate(querying(pool), namesIn('petstore'), version)
    await migrate(querying(pool), namesIn('petstore'))
    const { storage, quota, keyStore } = postgres(pool, { clock, keyCache: false })
    const newer = await Promise.all(times(20, () => storage.create(pet)))
    const counts = await Promise.all(times(20, () => quota.spend(request)))
    progress.isOver = true
    const { created, granted } = await served
    const ids = [...KEPT.map(({ id }) => id), ...created, ...newer.map(({ id }) => id)].toSorted((a, b) =>
      Number(a - b),
    )
    const listed = await execute('old_list (-1, 10000)')
    expect(listed.map(({ id }) => BigInt(id))).toEqual(ids)
    expect((await storage.list({ limit: 10_000 })).map(({ id }) => id)).toEqual(ids)
    // The limit is 50 per minute, and the fixture has already counted 4 requests.
    expect(granted + counts.filter((count) => count.granted).length).toBe(46)
    const { token, key } = await keyStore.issue({ plan: 'free' })
    const { rows } = await pool.query('SELECT token_sha256 AS hash FROM petstore.keys WHERE id = $1', [key.id])
    expect(await execute(`old_find ('${rows[0].hash}')`)).toEqual([{ id: key.id }])
    await keyStore.revoke(key.id)
    expect([await execute(`old_find ('${rows[0].hash}')`), await keyStore.find(token)]).toEqual([[], undefined])
  })

  /** Adds animals and counts requests as a process of version 1 does, until the minute limit is reached. */
  async function serveOlder(progress: { readonly isOver: boolean }) {
    const created: bigint[] = []
    let granted = 0
    for (let refused = 0; !progress.isOver || refused === 0; ) {
      created.push(BigInt((await execute(`old_create ('old', 1, 'sold')`))[0].id))
      const [count] = await spendOlder()
      if (count.granted) granted++
      else refused++
    }
    return { created, granted }
  }

  test('PostgreSQL counts anonymous clients together with a process of version 2', async () => {
    await migrate(querying(pool), namesIn('petstore'), 2)
    await older.query(fixture('postgres-2-process.sql'))
    await migrate(querying(pool), namesIn('petstore'))
    const subject = 'address:192.0.2.1'
    const { quota } = postgres(pool, { clock })
    await execute(`old_spend_anonymous ('${subject}', 50, 100, NULL, NULL, ${clock.now()}, ${bucketOf(subject)})`)
    expect(await quota.spend({ ...request, subject, anonymous: true })).toMatchObject({ usedInDay: 2 })
  })

  test('animals of a process of version 3 can be read at once', async () => {
    await migrate(querying(pool), namesIn('petstore'), 3)
    await older.query(fixture('postgres-3-process.sql'))
    await migrate(querying(pool), namesIn('petstore'))
    const [{ id }] = await execute(`old_create_all ('[["old", 1, "sold"]]', 4000)`)
    expect(await postgres(pool).storage.get(BigInt(id))).toMatchObject({ name: 'old' })
  })

  test('a database that a later release has migrated is refused', async () => {
    const { migrate } = postgres(pool)
    await migrate()
    await pool.query('INSERT INTO petstore.versions (version) VALUES (99)')
    await expect(migrate()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(
        /^option schema: expected a schema of version \d+ at most, got version 99\. A later/,
      ),
    })
  })
})

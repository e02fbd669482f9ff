import { readFileSync } from 'node:fs'
import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { startServer } from '../../support/petstore-command.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

const REX = { name: 'Rex', categoryId: 1n, status: 'sold' } as const
const IDEMPOTENCY = { scope: 'account:acme', key: 'order-1', fingerprint: 'f' }
const REQUEST = {
  subject: 'address:a',
  anonymous: true,
  limits: { perMinute: 9, perDay: 9 },
  ban: false,
  now: 0,
} as const

const document = readFileSync('docs/back-ends.md', 'utf8')
/** The statements by which the documents give rights to the role `app`. */
const [grants = ''] = /^GRANT USAGE ON SCHEMA[\s\S]*?(?=```)/m.exec(document) ?? []

describe.skipIf(noPostgres)('a role of PostgreSQL without the right to create tables', () => {
  const database = usePostgres()
  let app: Pool
  const urlOf = (role: string) => database.url.replace('petstore@', `${role}@`)
  beforeAll(async () => {
    await database.pool.query('CREATE ROLE app LOGIN; CREATE ROLE reader LOGIN')
    app = openPool(urlOf('app'))
  })
  afterAll(() => app.end())
  beforeEach(async () => {
    await database.renew()
    await database.pool.query(grants)
  })

  test('can do everything with the rights of the documents', async () => {
    const { migrate, storage, keyStore, quota } = postgres(app)
    await migrate()
    const { id } = await storage.create(REX, { idempotency: IDEMPOTENCY })
    expect(await storage.create(REX, { idempotency: IDEMPOTENCY })).toMatchObject({ id, earlier: 'same' })
    expect(await storage.list({ limit: 9 })).toEqual([await storage.get(id)])
    expect(await storage.update?.(id, { status: 'available' })).toMatchObject({ applied: true })
    expect(await storage.remove?.(id)).toMatchObject({ applied: true })
    expect(await storage.restore?.([{ id: 9n, ...REX }])).toEqual([])
    expect(await storage.count?.()).toBe(1)
    const { token, key } = await keyStore.issue({ plan: 'free' })
    await keyStore.update(key.id, { label: 'ours' })
    expect(await keyStore.find(token)).toMatchObject({ label: 'ours' })
    expect(await keyStore.revoke(key.id)).toBe(true)
    expect(await keyStore.list({ limit: 1_000 })).toHaveLength(1)
    expect(await keyStore.remove(key.id)).toBe(true)
    for (let i = 0; i < 50; i++) await quota.spend({ ...REQUEST, subject: `address:${i * 256}` })
    expect((await quota.peek?.({ ...REQUEST, subject: 'address:0' }))?.usedInDay).toBe(1)
    await quota.reset?.({ subject: 'address:0', anonymous: true })
  })

  test('records the use of a key with the right to change one column', async () => {
    const { pool } = database
    const { key } = await postgres(pool).keyStore.issue({ plan: 'pro' })
    await pool.query('REVOKE INSERT, UPDATE, DELETE ON petstore.keys FROM app')
    await pool.query('GRANT UPDATE (last_used_on) ON petstore.keys TO app')
    onTestFinished(async () => {
      await pool.query('GRANT INSERT, UPDATE, DELETE ON petstore.keys TO app')
    })
    const { keyStore } = postgres(app)
    await keyStore.recordUse([key.id], '2030-01-31')
    expect(await keyStore.get(key.id)).toMatchObject({ lastUsedOn: '2030-01-31' })
  })

  test('starts petstore serve, which adds an animal', async () => {
    const { token } = await postgres(database.pool).keyStore.issue({ plan: 'pro' })
    const server = await startServer('--database-url', urlOf('app'))
    onTestFinished(() => server.end('SIGKILL'))
    const response = await fetch(`${server.url}/pets`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: '{"name":"Rex","categoryId":1}',
    })
    expect(response.status).toBe(201)
  })

  test('can call migrate if it may only read the version', async () => {
    await database.pool.query('GRANT USAGE ON SCHEMA petstore TO reader; GRANT SELECT ON petstore.versions TO reader')
    const reader = openPool(urlOf('reader'))
    onTestFinished(() => reader.end())
    await postgres(reader).migrate()
  })

  test.each([
    ['there is no schema', 'DROP SCHEMA petstore CASCADE', 'permission denied for database'],
    ['a step is missing', 'TRUNCATE petstore.versions', 'permission denied for schema petstore'],
    ['the row of turn is missing', 'TRUNCATE petstore.turn', 'permission denied for table turn'],
    [
      'the sequence is behind',
      `REVOKE UPDATE ON SEQUENCE petstore.pet_ids FROM app;
      INSERT INTO petstore.pets VALUES (1000, 'replicated', 1, 'sold')`,
      'permission denied for sequence pet_ids',
    ],
  ])('gets an error from migrate that says what to do if %s', async (_, change, reason) => {
    await database.pool.query(change)
    await expect(postgres(app).migrate()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringMatching(`${reason}.*Call migrate\\(\\) once as the owner of the schema`),
    })
  })

  test('gets an error from migrate if it may not use the schema', async () => {
    await database.pool.query('REVOKE USAGE ON SCHEMA petstore FROM app')
    await expect(postgres(app).migrate()).rejects.toMatchObject({ code: 'invalid_option' })
  })
})

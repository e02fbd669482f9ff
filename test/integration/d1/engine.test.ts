import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { D1PreparedStatement } from '@cloudflare/workers-types'
import { Miniflare } from 'miniflare'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { BUCKET_SIZE, bucketOf } from '../../../adapters/back-ends/shared/counters.ts'
import { type D1Database, type D1Options, type D1Statement, d1 } from '../../../adapters/back-ends/sqlite/d1/index.ts'
import { STEPS } from '../../../adapters/back-ends/sqlite/schema.ts'
import { createPetStore, type QuotaRequest } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { bundleWorker } from '../../conformance/bundle-worker.ts'
import { emptied } from './contracts.ts'

const example = join(import.meta.dirname, '../../../examples/worker-d1/worker.mjs')
const REX = '{"name":"Rex","categoryId":1}'
const POST = { method: 'POST', headers: { authorization: 'Bearer secret' } }

let folder = ''
let script = ''
beforeAll(async () => {
  folder = await bundleWorker(example)
  script = await readFile(join(folder, 'worker.js'), 'utf8')
})
afterAll(() => rm(folder, { recursive: true }))

/** Starts several Workers of the example on one D1 database. Each Worker runs in its own isolate. */
function startWorkers(names: readonly string[], d1Persist?: string): Miniflare {
  return new Miniflare({
    ...(d1Persist !== undefined && { d1Persist }),
    workers: names.map((name) => ({
      name,
      script,
      modules: true as const,
      compatibilityDate: '2025-10-01',
      bindings: { ADMIN_TOKEN: 'secret' },
      d1Databases: { DB: 'pets' },
    })),
  })
}

async function migrated(miniflare: Miniflare): Promise<Miniflare> {
  await d1(await databaseOf(miniflare)).migrate()
  return miniflare
}

async function databaseOf(miniflare: Miniflare): Promise<D1Database> {
  return await miniflare.getD1Database('DB')
}

async function issueKey(miniflare: Miniflare, plan: string): Promise<string> {
  return (await (await miniflare.dispatchFetch(`http://localhost/keys?plan=${plan}`, POST)).text()).trim()
}

function authorized(token: string): { headers: Record<string, string> } {
  return { headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' } }
}

describe('Workers on one D1 database', () => {
  test('the end of the ids is service_unavailable', async () => {
    const miniflare = await migrated(startWorkers(['first']))
    onTestFinished(() => miniflare.dispose())
    const database = await databaseOf(miniflare)
    const values = `${2n ** 63n - 1n}, 'last', 1, 'sold'`
    await database.prepare(`INSERT INTO petstore_pets (id, name, category_id, status) VALUES (${values})`).all()
    const { storage } = d1(database)
    const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const
    const idempotency = { scope: 'account:acme', key: 'order-1', fingerprint: 'f' }
    for (const call of [() => storage.create(pet), () => storage.create(pet, { idempotency })])
      await expect(call()).rejects.toMatchObject({ code: 'service_unavailable' })
    expect((await storage.list({ limit: 9 })).map(({ id }) => id)).toEqual([2n ** 63n - 1n])
  })

  test('a dropped idempotency key rejects its create, and adds no animal', async () => {
    const miniflare = await migrated(startWorkers(['first']))
    onTestFinished(() => miniflare.dispose())
    const database = await databaseOf(miniflare)
    const trigger = 'CREATE TRIGGER dropping BEFORE INSERT ON petstore_used_keys BEGIN SELECT raise(IGNORE); END'
    await database.prepare(trigger).all()
    const { storage } = d1(database)
    const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const
    const idempotency = { scope: 'account:acme', key: 'order-1', fingerprint: 'f' }
    await expect(storage.create(pet, { idempotency })).rejects.toThrow('added no animal')
    expect(await storage.list({ limit: 9 })).toEqual([])
  })

  test('D1 keeps animals, keys and counts across a restart', async () => {
    const data = await mkdtemp(join(tmpdir(), 'petstore-kit-'))
    onTestFinished(() => rm(data, { recursive: true }))
    const first = await migrated(startWorkers(['first'], data))
    const limits = { perMinute: 1_000, perDay: 3 }
    const { token } = await d1(await databaseOf(first)).keyStore.issue({ plan: 'enterprise', limits })
    const url = 'http://localhost/v1/pets'
    const body = '{"name":"Rex","categoryId":9223372036854775807}'
    const added = await first.dispatchFetch(url, { method: 'POST', body, ...authorized(token) })
    const pet = await added.text()
    expect([added.status, pet]).toEqual([201, expect.stringContaining('9223372036854775807')])
    await first.dispose()

    const second = startWorkers(['second'], data)
    onTestFinished(() => second.dispose())
    const listed = await second.dispatchFetch(url, authorized(token))
    expect([listed.status, await listed.text()]).toEqual([200, `[${pet}]`])
    expect(listed.headers.get('x-ratelimit-remaining')).toBe('1')
  })

  test('Workers together serve exactly as many requests as the limit allows', async () => {
    const miniflare = await migrated(startWorkers(['first', 'second', 'third']))
    onTestFinished(() => miniflare.dispose())
    // The daily limit is as low as the minute limit, so the result is the same if a minute ends during the test.
    const limits = { perMinute: 200, perDay: 200 }
    const { token } = await d1(await databaseOf(miniflare)).keyStore.issue({ plan: 'enterprise', limits })
    const workers = await Promise.all(['first', 'second', 'third'].map((name) => miniflare.getWorker(name)))
    const statuses: (number | undefined)[] = []
    // With all requests at once, Miniflare resets connections on a busy machine.
    for (let wave = 0; wave < 10; wave++) {
      const responses = await Promise.all(
        Array.from({ length: 30 }, (_, i) => workers[i % 3]?.fetch('http://localhost/v1/pets', authorized(token))),
      )
      statuses.push(...responses.map((response) => response?.status))
    }
    expect(statuses.filter((status) => status === 200).length).toBe(200)
    expect(statuses.filter((status) => status === 429).length).toBe(100)
  })

  test('Workers that get one idempotency key at the same time add one animal', async () => {
    const names = ['first', 'second', 'third']
    const miniflare = await migrated(startWorkers(names))
    onTestFinished(() => miniflare.dispose())
    const { token } = await d1(await databaseOf(miniflare)).keyStore.issue({ plan: 'business' })
    const workers = await Promise.all(names.map((name) => miniflare.getWorker(name)))
    const { headers } = authorized(token)
    for (let round = 0; round < 10; round++) {
      const init = { method: 'POST', body: REX, headers: { ...headers, 'idempotency-key': `order-${round}` } }
      const responses = await Promise.all(
        Array.from({ length: 9 }, (_, i) => workers[i % 3]?.fetch('http://localhost/v1/pets', init)),
      )
      const texts = await Promise.all(responses.map((response) => response?.text()))
      expect(new Set(texts).size).toBe(1)
      expect(responses.filter((response) => !response?.headers.has('idempotency-replayed')).length).toBe(1)
    }
    expect((await d1(await databaseOf(miniflare)).storage.list({ limit: 100 })).length).toBe(10)
  })

  test('the example Worker issues keys only to requests with ADMIN_TOKEN', async () => {
    const miniflare = await migrated(startWorkers(['only']))
    onTestFinished(() => miniflare.dispose())
    const wrong = { method: 'POST', headers: { authorization: 'Bearer wrong' } }
    expect((await miniflare.dispatchFetch('http://localhost/keys', wrong)).status).toBe(403)
    expect(await issueKey(miniflare, 'pro')).toMatch(/^pet_/)
  })
})

describe('a D1 database', () => {
  let miniflare: Miniflare
  let database: D1Database
  beforeAll(async () => {
    miniflare = new Miniflare({ modules: true, script: 'export default {}', d1Databases: ['DB', 'EMPTY', 'FIRST'] })
    database = await databaseOf(miniflare)
  })
  afterAll(() => miniflare.dispose())

  test('several callers can migrate a D1 database at the same time', async () => {
    await Promise.all(Array.from({ length: 4 }, () => d1(database).migrate()))
    const { results } = await database.prepare('SELECT version FROM petstore_schema').all()
    expect(results).toEqual([{ version: STEPS.length }])
  })

  test('rejects a D1 database with the schema of a later release', async () => {
    await d1(database).migrate()
    await database.prepare('UPDATE petstore_schema SET version = 99').all()
    await expect(d1(database).migrate()).rejects.toMatchObject({ code: 'invalid_option' })
    await database.prepare('UPDATE petstore_schema SET version = ?').bind(STEPS.length).all()
  })

  test('a D1 database without tables causes 500', async () => {
    const empty = await miniflare.getD1Database('EMPTY')
    const faults: unknown[] = []
    const petStore = createPetStore({ ...d1(empty), onError: (error) => void faults.push(error) })
    const headers = { authorization: `Bearer ${(await keyOf(database)).token}` }
    expect((await petStore.fetch(new Request('http://localhost/v1/pets', { headers }))).status).toBe(500)
    expect(String(faults[0])).toContain('no such table')
  })

  test('D1 receives one request per operation', async () => {
    await emptied(database)
    let calls = 0
    const originals = new Map<D1Statement, D1Statement>()
    const counted = (original: D1Statement): D1Statement => {
      const statement: D1Statement = {
        bind: (...values) => counted(original.bind(...values)),
        all: () => {
          calls += 1
          return original.all()
        },
      }
      originals.set(statement, original)
      return statement
    }
    const counting: D1Database = {
      prepare: (sql) => counted(database.prepare(sql)),
      batch: (statements) => {
        calls += 1
        return database.batch(statements.map((statement) => originals.get(statement) as D1Statement))
      },
    }
    const { storage, keyStore } = d1(counting, { keyCache: false })
    const { token, key } = await keyStore.issue({ plan: 'free' })
    const { id } = await storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })
    const idempotency = { scope: 'account:acme', key: 'order-1', fingerprint: '' }
    for (let i = 0; i < 2; i++)
      await storage.create({ name: 'Rex', categoryId: 1n, status: 'available' }, { idempotency })
    await storage.get(id)
    await storage.list({ limit: 9, status: 'sold' })
    await keyStore.find(token)
    await keyStore.list({ limit: 1_000 })
    await keyStore.revoke(key.id)
    expect(calls).toBe(9)
  })

  test('D1 writes one row per counted request', async () => {
    await emptied(database)
    const binding = await miniflare.getD1Database('DB')
    const written: number[] = []
    const metering: D1Database = {
      prepare: (sql) => binding.prepare(sql),
      async batch(statements) {
        const results = await binding.batch(statements as D1PreparedStatement[])
        written.push(results.reduce((sum, { meta }) => sum + meta.rows_written, 0))
        return results
      },
    }
    const clock = manualClock()
    const { quota } = d1(metering, { clock })
    const limits = { perMinute: 60, perDay: 1_000 }
    const request = { subject: 'key:a', anonymous: false, limits, ban: false, now: clock.now() } as const
    for (let i = 0; i < 3; i++) await quota.spend(request)
    expect(written).toEqual([2, 1, 1])
  })

  test('D1 stores a limited number of anonymous counters, and deletes those of refused clients last', async () => {
    const clock = manualClock()
    const { quota } = await emptied(database, { clock })
    const limits = { perMinute: 2, perDay: 2 }
    const request: Omit<QuotaRequest, 'subject'> = { anonymous: true, limits, ban: false, now: clock.now() }
    const all = Array.from({ length: 20_000 }, (_, i) => `address:${i}`)
    const [refused = '', ...others] = all.filter((subject) => bucketOf(subject) === 7).slice(0, 60)
    for (let i = 0; i < 3; i++) await quota.spend({ ...request, subject: refused })
    await quota.spend({ ...request, subject: 'key:customer', anonymous: false })
    for (const subject of others) await quota.spend({ ...request, subject })
    const { results } = await database.prepare('SELECT count(*) AS n FROM petstore_quota').all()
    expect(results).toEqual([{ n: BUCKET_SIZE + 1 }])
    expect((await quota.spend({ ...request, subject: refused })).granted).toBe(false)
    expect((await quota.spend({ ...request, subject: 'key:customer', anonymous: false })).usedInMinute).toBe(2)
  })

  /** Returns a back end whose first use deletes old rows. */
  function pruning(options?: D1Options) {
    const random = vi.spyOn(Math, 'random').mockReturnValue(0)
    onTestFinished(() => random.mockRestore())
    return d1(database, options)
  }

  test('D1 removes counts two days after their window has ended', async () => {
    const clock = manualClock()
    const { quota } = await emptied(database, { clock })
    const request = { anonymous: false, limits: { perMinute: 9e6, perDay: 9e6 }, ban: false } as const
    await quota.spend({ ...request, subject: 'key:old', now: clock.now() })
    clock.advance(4 * 86_400_000)
    await pruning({ clock }).quota.spend({ ...request, subject: 'key:regular', now: clock.now() })
    const { results } = await database.prepare('SELECT subject FROM petstore_quota').all()
    expect(results).toEqual([{ subject: 'key:regular' }])
  })

  test('D1 counts by its own clock, not by the clock of the caller', async () => {
    const { quota } = await emptied(database)
    const limits = { perMinute: 5, perDay: 5 }
    const request = { subject: 'key:a', anonymous: false, limits, ban: false } as const
    const spent = await quota.spend({ ...request, now: 0 })
    expect(spent.now).toBeGreaterThan(Date.UTC(2026, 0))
    // The clock of the second process says 2100. Its first request deletes old counts, but must not delete counts of today.
    const { quota: ahead } = pruning()
    expect((await ahead.spend({ ...request, subject: 'key:b', now: Date.UTC(2100, 0) })).usedInDay).toBe(1)
    expect((await quota.spend({ ...request, now: 0 })).usedInDay).toBe(2)
  })
})

async function keyOf(database: D1Database) {
  const backEnd = d1(database)
  await backEnd.migrate()
  return backEnd.keyStore.issue({ plan: 'free' })
}

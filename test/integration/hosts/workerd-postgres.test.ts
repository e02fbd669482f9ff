import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Miniflare } from 'miniflare'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { bundleWorker } from '../../conformance/bundle-worker.ts'
import { waitForLocks } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
const example = join(import.meta.dirname, '../../../examples/worker-postgres/worker.mjs')
const URL_OF_PETS = 'http://localhost/v1/pets'
const REX = '{"name":"Rex","categoryId":1}'
const ROUNDS = 20

let server: PostgresServer
let pool: Pool
let miniflare: Miniflare
beforeAll(async () => {
  if (noPostgres) return
  server = await startPostgres()
  pool = new Pool({ connectionString: server.url })
  pool.on('error', () => {})
  const folder = await bundleWorker(example)
  miniflare = new Miniflare({
    script: await readFile(join(folder, 'worker.js'), 'utf8'),
    modules: true,
    compatibilityDate: '2025-10-01',
    compatibilityFlags: ['nodejs_compat'],
    // As Hyperdrive's binding. Miniflare's imitation of Hyperdrive throws an uncaught error here while PostgreSQL is away.
    bindings: { HYPERDRIVE: { connectionString: server.url } },
  })
  await rm(folder, { recursive: true })
})
afterAll(async () => {
  if (noPostgres) return
  await miniflare.dispose()
  await pool.end()
  await server.remove()
})

test.skipIf(noPostgres)('a Worker with a store per request serves from PostgreSQL', async () => {
  const backEnd = postgres(pool)
  await backEnd.migrate()
  const { token } = await backEnd.keyStore.issue({ plan: 'business' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const addAndList = async () => {
    const added = await miniflare.dispatchFetch(URL_OF_PETS, { method: 'POST', headers, body: REX })
    const listed = await miniflare.dispatchFetch(URL_OF_PETS, { headers })
    return [added.status, listed.status]
  }
  const sessions = async () => {
    const { rows } = await pool.query('SELECT sessions FROM pg_stat_database WHERE datname = current_database()')
    return Number(rows[0].sessions)
  }
  const before = await sessions()
  const statuses: number[][] = []
  for (let i = 0; i < ROUNDS; i++) statuses.push(await addAndList())
  statuses.push(...(await Promise.all(Array.from({ length: ROUNDS }, addAndList))))
  expect(statuses).toEqual(Array(2 * ROUNDS).fill([201, 200]))
  const last = await miniflare.dispatchFetch(URL_OF_PETS, { headers })
  expect(last.headers.get('x-ratelimit-limit')).toBe('1000')
  // Each request opens one connection. If it also deleted old counters, it would open a second one.
  expect((await sessions()) - before).toBeLessThan(1.5 * (4 * ROUNDS))
})

test.skipIf(noPostgres)('a Worker responds with 503 when PostgreSQL crashes and while it is away', async () => {
  const backEnd = postgres(pool)
  await backEnd.migrate()
  const { token } = await backEnd.keyStore.issue({ plan: 'business' })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const host = await pool.connect()
  host.on('error', () => {})
  await host.query('BEGIN; SELECT FROM petstore.turn FOR UPDATE')
  const added = miniflare.dispatchFetch(URL_OF_PETS, { method: 'POST', headers, body: REX })
  await waitForLocks(pool)
  await server.stop('crash')
  expect((await added).status).toBe(503)
  host.release(true)
  expect((await miniflare.dispatchFetch(URL_OF_PETS, { headers })).status).toBe(503)
  await server.start()
  expect((await miniflare.dispatchFetch(URL_OF_PETS, { headers })).status).toBe(200)
})

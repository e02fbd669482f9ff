import { createClient } from '@libsql/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type D1Database, d1 } from '../../../adapters/back-ends/sqlite/d1/index.ts'
// @ts-expect-error: the example is JavaScript.
import { databaseOf as untyped } from '../../../examples/turso/database.mjs'
import { type HranaServer, startHranaServer } from '../../support/hrana-server.ts'
import { d1Contracts, emptied } from './contracts.ts'

const databaseOf: (client: object) => D1Database = untyped
let server: HranaServer
let database: D1Database
beforeAll(async () => {
  server = await startHranaServer('secret')
  database = databaseOf(createClient({ url: server.url, authToken: 'secret' }))
})
afterAll(() => server.close())

d1Contracts({ describe, test }, 'libSQL over HTTP', () => database, 10)

describe('libSQL over HTTP', () => {
  test('libSQL receives one HTTP request per operation', async () => {
    const { storage, quota } = await emptied(database)
    const before = server.requests()
    await storage.create({ name: 'Rex', categoryId: 1n, status: 'available' })
    await storage.list({ limit: 9 })
    const limits = { perMinute: 5, perDay: 5 }
    await quota.spend({ subject: 'address:a', anonymous: true, limits, ban: false, now: 0 })
    expect(server.requests() - before).toBe(3)
  })

  test('a 502 of a gateway becomes service_unavailable', async () => {
    const failing = await startHranaServer('secret')
    const { storage } = d1(databaseOf(createClient({ url: failing.url, authToken: 'secret' })))
    failing.fail()
    await expect(storage.get(1n)).rejects.toMatchObject({ code: 'service_unavailable' })
    await failing.close()
  })
})

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PostgresClient, type PostgresValue, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { onDemand } from '../../support/on-demand.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

/** The part of Neon's HTTP driver that the test uses. */
interface Neon {
  neon(url: string, options?: object): { query(text: string, values?: PostgresValue[]): Promise<never> }
  readonly neonConfig: { fetchEndpoint?: () => string }
}

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
const driver = await onDemand('@neondatabase/serverless@1.2.0')

describe.skipIf(missing("Neon's driver", driver !== undefined) || noPostgres)("Neon's HTTP driver", () => {
  let server: PostgresServer
  let pool: Pool
  let proxy: Server
  let module: Neon
  const url = 'postgres://petstore:secret@db.example.neon.tech/pets'
  beforeAll(async () => {
    server = await startPostgres()
    pool = openPool(server.url)
    proxy = startProxy(pool)
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
    const path = join(driver as string, 'node_modules/@neondatabase/serverless/index.mjs')
    module = (await import(pathToFileURL(path).href)) as Neon
    module.neonConfig.fetchEndpoint = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/sql`
  })
  afterAll(async () => {
    proxy.close()
    await pool.end()
    await server.remove()
  })

  test('stores animals, keys and counts with the option fullResults', async () => {
    const { migrate, storage, keyStore, quota } = postgres(module.neon(url, { fullResults: true }))
    await migrate()
    const pet = { name: 'Rex', categoryId: 2n ** 62n, status: 'sold' } as const
    const created = await Promise.all([storage.create(pet), storage.create(pet)])
    expect(await storage.list({ limit: 9 })).toEqual(created)
    const idempotency = { scope: 'account:acme', key: 'order-1', fingerprint: 'f' }
    const first = await storage.create(pet, { idempotency })
    expect(await storage.create(pet, { idempotency })).toEqual({ ...first, earlier: 'same' })
    const { token, key: issued } = await keyStore.issue({ plan: 'pro' })
    expect(await keyStore.find(token)).toEqual(issued)
    const request = { subject: 'a', anonymous: false, limits: { perMinute: 1, perDay: 1 }, ban: false, now: 0 } as const
    expect([(await quota.spend(request)).granted, (await quota.spend(request)).granted]).toEqual([true, false])
  })

  test('says what to do if the driver returns the rows alone', async () => {
    const client = module.neon(url) as unknown as PostgresClient
    await expect(postgres(client).migrate()).rejects.toMatchObject({
      code: 'invalid_option',
      message: expect.stringContaining("{ rows: await sql.query(text, values) }) } for Neon's HTTP driver"),
    })
  })

  test('a refused connection is service_unavailable', async () => {
    const { fetchEndpoint } = module.neonConfig
    module.neonConfig.fetchEndpoint = () => 'http://127.0.0.1:1/sql'
    const { storage } = postgres(module.neon(url, { fullResults: true }))
    await expect(storage.list({ limit: 1 })).rejects.toMatchObject({ code: 'service_unavailable' })
    if (fetchEndpoint) module.neonConfig.fetchEndpoint = fetchEndpoint
  })
})

/** Answers as Neon's proxy does: each request is one statement, with its values and results as texts. */
function startProxy(pool: Pool): Server {
  return createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { query, params } = JSON.parse(body) as { query: string; params: PostgresValue[] }
    try {
      const types = { getTypeParser: () => (text: string) => text }
      const result = await pool.query({ text: query, values: params, rowMode: 'array', types })
      const fields = result.fields.map(({ name, dataTypeID }) => ({ name, dataTypeID }))
      response.end(JSON.stringify({ command: result.command, rowCount: result.rowCount, fields, rows: result.rows }))
    } catch (error) {
      const { message, code, severity } = error as { message: string; code?: string; severity?: string }
      response.writeHead(400).end(JSON.stringify({ message, code, severity }))
    }
  })
}

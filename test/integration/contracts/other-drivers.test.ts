import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { PostgresClient, PostgresValue } from '../../../adapters/back-ends/postgres/index.ts'
import { keyStoreContract, quotaContract, storageContract } from '../../../src/testing/index.ts'
import { onDemand } from '../../support/on-demand.ts'
import { emptied } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missingRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { runtimeBinary } from '../../support/runtimes.ts'
import { missing } from '../../support/skips.ts'

/** The part of postgres.js that the test uses. */
interface PostgresJs {
  unsafe(text: string, values?: PostgresValue[]): Promise<readonly unknown[]>
  end(): Promise<void>
}

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
const noRedis = missingRedis()
const driver = await onDemand('postgres@3.4.9')
const bun = await runtimeBinary('bun')

describe.skipIf(missing('postgres.js', driver !== undefined) || noPostgres)('postgres.js', () => {
  let server: PostgresServer
  let sql: PostgresJs
  beforeAll(async () => {
    server = await startPostgres()
    const path = join(driver as string, 'node_modules/postgres/src/index.js')
    const module = (await import(pathToFileURL(path).href)) as { default(url: string, options: object): PostgresJs }
    sql = module.default(server.url, { onnotice: () => {} })
  })
  afterAll(async () => {
    await sql.end()
    await server.remove()
  })

  const client: PostgresClient = { query: async (text, values) => ({ rows: await sql.unsafe(text, values) }) }
  const open = emptied(client)
  const runner = { describe, test }
  const [name, runs] = ['postgres.js', 6]
  storageContract(runner, { name, runs, open: async (clock) => (await open(clock)).as('storage') })
  keyStoreContract(runner, { name, runs, open: async (clock) => (await open(clock)).as('keyStore') })
  quotaContract(runner, { name, runs, open: async (clock) => (await open(clock)).as('quota') })
})

describe.skipIf(missing('Bun', bun !== undefined) || noPostgres || noRedis)("Bun's own clients", () => {
  test("Bun's drivers of PostgreSQL and Redis pass the contract suites", async () => {
    const [server, redis]: [PostgresServer, RedisServer] = await Promise.all([startPostgres(), startRedis()])
    const script = join(import.meta.dirname, '../../support/bun-engines.mjs')
    const env = { ...process.env, POSTGRES_URL: server.url, REDIS_URL: redis.url }
    const { stdout } = await promisify(execFile)(String(bun), [script], { env })
    await Promise.all([server.remove(), redis.remove()])
    const [, tests] = /^(\d+) tests were run\n$/.exec(stdout) ?? []
    expect(Number(tests)).toBeGreaterThanOrEqual(46)
  })
})

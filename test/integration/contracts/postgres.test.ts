import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { keyStoreContract, quotaContract, storageContract } from '../../../src/testing/index.ts'
import { emptied, openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))('PostgreSQL', () => {
  let server: PostgresServer
  let pool: Pool
  let client: Client
  beforeAll(async () => {
    server = await startPostgres()
    pool = openPool(server.url, { max: 8 })
    client = new Client(server.url)
    await client.connect()
  })
  afterAll(async () => {
    await pool.end()
    await client.end()
    await server.remove()
  })

  let emptyPool: ReturnType<typeof emptied> | undefined
  const open: ReturnType<typeof emptied> = (clock) => {
    emptyPool ??= emptied(pool)
    return emptyPool(clock)
  }
  const runner = { describe, test }
  storageContract(runner, { name: 'a pool', open: async (clock) => (await open(clock)).as('storage') })
  keyStoreContract(runner, { name: 'a pool', open: async (clock) => (await open(clock)).as('keyStore') })
  quotaContract(runner, { name: 'a pool', open: async (clock) => (await open(clock)).as('quota') })

  const one = (clock?: Parameters<typeof open>[0]) => emptied(client)(clock)
  storageContract(runner, { name: 'one connection', runs: 6, open: async (clock) => (await one(clock)).as('storage') })
  quotaContract(runner, { name: 'one connection', runs: 6, open: async (clock) => (await one(clock)).as('quota') })
})

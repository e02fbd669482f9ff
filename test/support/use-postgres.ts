import { Client, type Pool, type PoolConfig } from 'pg'
import { afterAll, beforeAll } from 'vitest'
import { postgres } from '../../adapters/back-ends/postgres/index.ts'
import { openPool } from './postgres-back-end.ts'
import { type PostgresServer, type PostgresSetUp, postgresPrograms, startPostgres } from './postgres-server.ts'
import { missing } from './skips.ts'

/** A PostgreSQL server for the tests of a `describe`. Its members can be used in hooks and tests. */
export interface TestDatabase {
  readonly url: string
  readonly pool: Pool
  /** Opens a connection of its own, which is closed after the tests. */
  connect(): Promise<Client>
  /** Drops the schema, and creates it again. */
  renew(): Promise<void>
}

/** Returns whether tests on a real PostgreSQL must be skipped. */
export const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)

/** Starts PostgreSQL before the tests of this `describe`, and removes it after them. */
export function usePostgres(config: PoolConfig = {}, setUp: PostgresSetUp = {}): TestDatabase {
  let server: PostgresServer
  let pool: Pool
  const clients: Client[] = []
  beforeAll(async () => {
    server = await startPostgres(setUp)
    pool = openPool(server.url, config)
  })
  afterAll(async () => {
    await Promise.all(clients.map((client) => client.end()))
    await pool.end()
    await server.remove()
  })
  return {
    get url() {
      return server.url
    },
    get pool() {
      return pool
    },
    async connect() {
      const client = new Client(server.url)
      clients.push(client)
      await client.connect()
      return client
    },
    async renew() {
      await pool.query('DROP SCHEMA IF EXISTS petstore CASCADE')
      await postgres(pool).migrate()
    },
  }
}

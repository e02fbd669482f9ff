import type { Client } from 'pg'
import { beforeAll, describe, test } from 'vitest'
import { keyStoreContract, quotaContract, storageContract } from '../../../src/testing/index.ts'
import { emptied } from '../../support/postgres-back-end.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

describe.skipIf(noPostgres)('PostgreSQL', () => {
  const database = usePostgres({ max: 8 })
  let client: Client
  beforeAll(async () => {
    client = await database.connect()
  })

  let emptyPool: ReturnType<typeof emptied> | undefined
  const open: ReturnType<typeof emptied> = (clock) => {
    emptyPool ??= emptied(database.pool)
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

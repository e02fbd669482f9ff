import { PGlite } from '@electric-sql/pglite'
import { afterAll, describe, test } from 'vitest'
import { keyStoreContract, quotaContract, storageContract } from '../../../src/testing/index.ts'
import { emptied } from '../../support/postgres-back-end.ts'

const database = new PGlite()
afterAll(() => database.close())
const open = emptied(database)
const runs = 8

storageContract({ describe, test }, { name: 'PGlite', runs, open: async (clock) => (await open(clock)).as('storage') })
keyStoreContract(
  { describe, test },
  { name: 'PGlite', runs, open: async (clock) => (await open(clock)).as('keyStore') },
)
quotaContract({ describe, test }, { name: 'PGlite', runs, open: async (clock) => (await open(clock)).as('quota') })

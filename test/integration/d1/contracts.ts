import { type D1Database, type D1Options, d1 } from '../../../adapters/back-ends/sqlite/d1/index.ts'
import type { Clock } from '../../../src/index.ts'
import { keyStoreContract, quotaContract, storageContract, type TestRunner } from '../../../src/testing/index.ts'

const TABLES = ['petstore_pets', 'petstore_used_keys', 'petstore_keys', 'petstore_quota']

/** Empties the tables of a D1 database, and returns a back end on this database. */
export async function emptied(database: D1Database, options?: D1Options) {
  const backEnd = d1(database, options)
  await backEnd.migrate()
  await database.batch(TABLES.map((table) => database.prepare(`DELETE FROM ${table}`)))
  return backEnd
}

/** Adds the three contract suites for a D1 database. */
export function d1Contracts(runner: TestRunner, name: string, database: () => D1Database, runs?: number): void {
  const opening =
    <Name extends 'storage' | 'keyStore' | 'quota'>(port: Name, keyCache?: false) =>
    async (clock?: Clock) => ({
      port: (await emptied(database(), { clock, keyCache }))[port],
      close: async () => {},
      reopen: () => d1(database(), { clock, keyCache })[port],
    })
  storageContract(runner, { name, open: opening('storage'), runs })
  keyStoreContract(runner, { name, open: opening('keyStore'), runs })
  keyStoreContract(runner, { name: `${name}, without a cache`, open: opening('keyStore', false), runs })
  quotaContract(runner, { name, open: opening('quota'), runs })
}

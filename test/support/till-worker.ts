/** A program that sells animals, for tests with several processes. Its options are in the variable TILLS. */
import Database from 'libsql'
import { Pool } from 'pg'
import { postgres } from '../../adapters/back-ends/postgres/index.ts'
import { sqlite } from '../../adapters/back-ends/sqlite/index.ts'
import { createPetStore } from '../../src/index.ts'

/** The options of a process: exactly one engine. */
export interface TillOptions {
  readonly postgresUrl?: string | undefined
  readonly sqlitePath?: string | undefined
  /** How many tills of this process sell at once. */
  readonly tills: number
}

/** The ids of the animals that a process has sold, and the codes of the errors that its other calls got. */
export interface Sales {
  readonly sold: readonly string[]
  readonly refusals: readonly string[]
}

const { postgresUrl, sqlitePath, tills } = JSON.parse(process.env.TILLS ?? '') as TillOptions
// On a busy machine, a write may wait long for its lock.
const wait = 25_000
const { storage } = sqlitePath
  ? sqlite(new Database(sqlitePath), { busyTimeout: wait })
  : postgres(new Pool({ connectionString: postgresUrl, max: tills }), { lockTimeout: wait })
const { pets } = createPetStore({ storage, timeout: 60_000 })

process.on('message', async (ids: readonly string[]) => {
  const sold: string[] = []
  const refusals: string[] = []
  const sell = async (id: string) => {
    try {
      await pets.update(BigInt(id), { status: 'sold' }, { if: { status: 'available' } })
      sold.push(id)
    } catch (error) {
      refusals.push(String((error as { code?: unknown }).code ?? error))
    }
  }
  for (const id of ids) await Promise.all(Array.from({ length: tills }, () => sell(id)))
  process.send?.({ sold, refusals } satisfies Sales)
})
process.on('disconnect', () => process.exit())
process.send?.('ready')

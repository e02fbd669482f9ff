import { fork } from 'node:child_process'
import { once } from 'node:events'
import Database from 'libsql'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import type { PetStorage } from '../../../src/index.ts'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { showErrors } from '../../support/show-errors.ts'
import type { Sales, TillOptions } from '../../support/till-worker.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'
import { buildWorker } from '../../support/worker-process.ts'

const PROCESSES = 4
const TILLS = 5
const ANIMALS = 40

let worker: Awaited<ReturnType<typeof buildWorker>>
beforeAll(async () => {
  worker = await buildWorker('till-worker')
})
afterAll(() => worker.remove())

/** Lets all tills sell the same animals at the same time. */
async function sellTogether(storage: PetStorage, engine: Omit<TillOptions, 'tills'>) {
  const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const
  const added = await Promise.all(Array.from({ length: ANIMALS }, async () => storage.create(pet)))
  const ids = added.map(({ id }) => `${id}`)
  const env = { ...process.env, TILLS: JSON.stringify({ ...engine, tills: TILLS } satisfies TillOptions) }
  const start = () => showErrors(fork(worker.program, { env, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] }))
  const processes = Array.from({ length: PROCESSES }, start)
  await Promise.all(processes.map((child) => once(child, 'message')))
  const sales = await Promise.all(
    processes.map(async (child) => {
      child.send(ids)
      const [sales] = (await once(child, 'message')) as [Sales]
      child.disconnect()
      return sales
    }),
  )
  return {
    ids,
    sold: sales.flatMap(({ sold }) => sold).sort((a, b) => Number(a) - Number(b)),
    refusals: sales.flatMap(({ refusals }) => refusals),
    left: await storage.list({ limit: ANIMALS, status: 'available' }),
  }
}

const expectEachSoldOnce = ({ ids, sold, refusals, left }: Awaited<ReturnType<typeof sellTogether>>) => {
  expect(sold).toEqual(ids)
  expect(refusals).toEqual(Array(ANIMALS * (PROCESSES * TILLS - 1)).fill('condition_failed'))
  expect(left).toEqual([])
}

test('SQLite: of twenty tills in four processes, exactly one sells each animal', async () => {
  const { folder, remove } = temporaryFolder()
  const path = `${folder}/pets.db`
  const database = new Database(path)
  expectEachSoldOnce(await sellTogether(sqlite(database).storage, { sqlitePath: path }))
  database.close()
  remove()
})

describe.skipIf(noPostgres)('with a server', () => {
  const database = usePostgres()
  test('PostgreSQL: of twenty tills in four processes, exactly one sells each animal', async () => {
    await database.renew()
    expectEachSoldOnce(await sellTogether(postgres(database.pool).storage, { postgresUrl: database.url }))
  })
})

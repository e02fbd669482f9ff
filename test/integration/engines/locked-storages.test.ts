import Database from 'libsql'
import { Client, type Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import type { PetStorage } from '../../../src/index.ts'
import { temporaryFolder } from '../../conformance/sqlite/open.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missing } from '../../support/skips.ts'

const REX = { name: 'Rex', categoryId: 1n, status: 'sold' } as const
const idempotency = (key: number) => ({ scope: 'account:acme', key: String(key), fingerprint: 'f' })

/** A method without a call here is a type error. */
type Methods = Required<PetStorage>

/** One call of each method, and whether it only reads. `number` gives each call an idempotency key of its own. */
const METHODS: { readonly [Name in keyof Methods]: Method } = {
  list: { isRead: true, call: ({ list }) => list({ limit: 9 }) },
  get: { isRead: true, call: ({ get }) => get(1n) },
  create: { isRead: false, call: ({ create }) => create(REX) },
  createOnce: { isRead: false, call: ({ createOnce }, number) => createOnce(REX, idempotency(number)) },
}
const names = Object.keys(METHODS) as (keyof Methods)[]

interface Method {
  readonly isRead: boolean
  call(storage: Methods, number: number): unknown
}

/** More than the pool has connections, so that calls also wait for a connection. */
const CALLS = 6
let calls = 0

/** Calls the method several times at once. Returns the distinct outcomes: `served`, or the codes of the errors. */
async function outcomesOf(name: keyof Methods, storage: PetStorage): Promise<unknown[]> {
  const callOnce = async () => METHODS[name].call(storage as Methods, ++calls)
  const results = await Promise.allSettled(Array.from({ length: CALLS }, callOnce))
  return [...new Set(results.map((result) => (result.status === 'fulfilled' ? 'served' : result.reason.code)))]
}

describe('SQLite: while another process has locked the file', () => {
  const { folder, remove } = temporaryFolder()
  const path = `${folder}/pets.db`
  const database = new Database(path)
  const other = new Database(path)
  const { storage } = sqlite(database, { busyTimeout: 20 })
  afterAll(() => {
    database.close()
    other.close()
    remove()
  })

  test.each(names)('%s is served if it only reads, and else fails with service_unavailable', async (name) => {
    other.exec('BEGIN EXCLUSIVE')
    const outcomes = await outcomesOf(name, storage)
    other.exec('ROLLBACK')
    expect(outcomes).toEqual([METHODS[name].isRead ? 'served' : 'service_unavailable'])
    expect(await outcomesOf(name, storage)).toEqual(['served'])
  })
})

describe.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))(
  'PostgreSQL: while another transaction has locked the table pets',
  () => {
    let server: PostgresServer
    let pool: Pool
    let other: Client
    beforeAll(async () => {
      server = await startPostgres()
      // Short forms of the limits that `operating.md` recommends.
      pool = openPool(server.url, { max: 2, statement_timeout: 200, connectionTimeoutMillis: 60_000 })
      other = new Client(server.url)
      await other.connect()
      // The pool would cancel a migration that takes longer, as on a busy machine.
      await postgres(other).migrate()
    })
    afterAll(async () => {
      await other.end()
      await pool.end()
      await server.remove()
    })

    describe.each([false, true])('with parallelCreates %s', (parallelCreates) => {
      const open = () => postgres(pool, { lockTimeout: 50, parallelCreates }).storage

      test.each(names)('against everybody, %s fails with service_unavailable', async (name) => {
        const storage = open()
        await other.query('BEGIN; LOCK TABLE petstore.pets IN ACCESS EXCLUSIVE MODE')
        const outcomes = await outcomesOf(name, storage)
        await other.query('ROLLBACK')
        expect(outcomes).toEqual(['service_unavailable'])
        expect(await outcomesOf(name, storage)).toEqual(['served'])
      })

      test.each(names)('against writes, %s is served only if it reads', async (name) => {
        const storage = open()
        await other.query('BEGIN; LOCK TABLE petstore.pets IN EXCLUSIVE MODE')
        const outcomes = await outcomesOf(name, storage)
        await other.query('ROLLBACK')
        expect(outcomes).toEqual([METHODS[name].isRead ? 'served' : 'service_unavailable'])
        expect(await outcomesOf(name, storage)).toEqual(['served'])
      })

      test('writes that wait for the table do not stop lists and look-ups', async () => {
        const storage = open()
        await other.query('BEGIN; LOCK TABLE petstore.pets IN EXCLUSIVE MODE')
        const outcomes = await Promise.all(names.map((name) => outcomesOf(name, storage)))
        await other.query('ROLLBACK')
        expect(outcomes).toEqual(names.map((name) => [METHODS[name].isRead ? 'served' : 'service_unavailable']))
      })
    })
  },
)

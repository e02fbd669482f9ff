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

/** Calls of each method, and whether they only read. `number` gives each call an idempotency key of its own. */
const CALLS = {
  list: { isRead: true, call: ({ list }) => list({ limit: 9 }) },
  get: { isRead: true, call: ({ get }) => get(1n) },
  count: { isRead: true, call: ({ count }) => count?.('sold') },
  create: { isRead: false, call: ({ create }) => create(REX) },
  update: { isRead: false, call: ({ update }) => update?.(1n, { status: 'sold' }) },
  remove: { isRead: false, call: ({ remove }) => remove?.(9n) },
  restore: { isRead: false, call: ({ restore }) => restore?.([{ id: 1n, ...REX }]) },
  'create with a key': {
    isRead: false,
    call: ({ create }, number) => create(REX, { idempotency: idempotency(number) }),
  },
} satisfies Record<keyof PetStorage | 'create with a key', Call>
const names = Object.keys(CALLS) as (keyof typeof CALLS)[]

interface Call {
  readonly isRead: boolean
  call(storage: PetStorage, number: number): unknown
}

/** More than the pool has connections, so that calls also wait for a connection. */
const AT_ONCE = 6
let calls = 0

/** Makes several equal calls at once. Returns the distinct outcomes: `served`, or the codes of the errors. */
async function outcomesOf(name: keyof typeof CALLS, storage: PetStorage): Promise<unknown[]> {
  const { call }: Call = CALLS[name]
  const results = await Promise.allSettled(Array.from({ length: AT_ONCE }, async () => call(storage, ++calls)))
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
    expect(outcomes).toEqual([CALLS[name].isRead ? 'served' : 'service_unavailable'])
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

    const open = () => postgres(pool, { lockTimeout: 50 }).storage

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
      expect(outcomes).toEqual([CALLS[name].isRead ? 'served' : 'service_unavailable'])
      expect(await outcomesOf(name, storage)).toEqual(['served'])
    })

    test('writes that wait for the table do not stop lists and look-ups', async () => {
      const storage = open()
      await other.query('BEGIN; LOCK TABLE petstore.pets IN EXCLUSIVE MODE')
      const outcomes = await Promise.all(names.map((name) => outcomesOf(name, storage)))
      await other.query('ROLLBACK')
      expect(outcomes).toEqual(names.map((name) => [CALLS[name].isRead ? 'served' : 'service_unavailable']))
    })
  },
)

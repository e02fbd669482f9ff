import fc from 'fast-check'
import type { Client } from 'pg'
import { beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import type { CreatedPet } from '../../../src/index.ts'
import { until } from '../../support/until.ts'
import { noPostgres, usePostgres } from '../../support/use-postgres.ts'

/** One call of `create`, with or without a key, in a transaction that ends with a commit or a rollback. */
interface Write {
  readonly key: string | null
  readonly commits: boolean
}

/** Two concurrent writes, and a list between their steps. Each write has two steps: its call and the end of its transaction. */
interface Round {
  readonly writes: readonly [Write, Write]
  readonly order: readonly ('first' | 'second' | 'list')[]
}

const write: fc.Arbitrary<Write> = fc.record({
  key: fc.constantFrom(null, 'order-1', 'order-2'),
  commits: fc.boolean(),
})
const round: fc.Arbitrary<Round> = fc.record({
  writes: fc.tuple(write, write),
  order: fc.shuffledSubarray(['first', 'first', 'second', 'second', 'list'] as const, { minLength: 5 }),
})

interface Running {
  readonly call: Promise<CreatedPet>
  hasReturned: boolean
  ending?: Promise<void>
  hasEnded: boolean
}

describe.skipIf(noPostgres)('a model of PostgreSQL', () => {
  const database = usePostgres()
  let connections: readonly Client[]
  beforeAll(async () => {
    connections = [await database.connect(), await database.connect()]
  })

  /** Resolves when nothing runs: each write has done its last step, or waits for a lock of the other connection. */
  const settle = (running: readonly Running[]) =>
    until(async () => {
      if (running.some(({ hasReturned, ending, hasEnded }) => hasReturned && ending !== undefined && !hasEnded))
        return false
      if (running.every(({ hasReturned }) => hasReturned)) return true
      return (await database.pool.query('SELECT FROM pg_locks WHERE NOT granted')).rows.length > 0
    })

  /** Runs rounds, and compares each result with a plain list of animals and a plain map of keys. */
  async function compare(rounds: readonly Round[]): Promise<void> {
    await database.pool.query('DROP SCHEMA IF EXISTS petstore CASCADE')
    await postgres(database.pool).migrate()
    const { storage } = postgres(database.pool)
    const committed = new Set<bigint>()
    const keys = new Map<string, bigint>()
    let greatestListed = 0n

    const list = async () => {
      const before = new Set(committed)
      const ids = (await storage.list({ limit: 100 })).map(({ id }) => id)
      expect(ids).toEqual([...before].toSorted((a, b) => (a < b ? -1 : 1)))
      greatestListed = ids.at(-1) ?? greatestListed
    }

    function call({ key }: Write, client: Client): Promise<CreatedPet> {
      const backEnd = postgres(client, { lockTimeout: 60_000 })
      const pet = { name: 'Rex', categoryId: 1n, status: 'available' } as const
      const idempotency = key === null ? undefined : { scope: 's', key, fingerprint: 'f' }
      return Promise.resolve(backEnd.storage.create(pet, { idempotency }))
    }

    async function end({ key, commits }: Write, client: Client, created: CreatedPet): Promise<void> {
      const { id, earlier } = created
      const known = key === null ? undefined : keys.get(key)
      expect([earlier, known === undefined || id === known]).toEqual([known === undefined ? undefined : 'same', true])
      if (commits && known === undefined) {
        expect(id).toBeGreaterThan(greatestListed)
        expect(committed.has(id)).toBe(false)
        if (key !== null) keys.set(key, id)
        committed.add(id)
      }
      await client.query(commits ? 'COMMIT' : 'ROLLBACK')
    }

    for (const { writes, order } of rounds) {
      const running: [Running?, Running?] = []
      for (const step of order) {
        if (step === 'list') {
          await list()
          continue
        }
        const index = step === 'first' ? 0 : 1
        const [client, one] = [connections[index] as Client, writes[index]]
        const earlier = running[index]
        if (earlier === undefined) {
          await client.query('BEGIN')
          const started: Running = { call: call(one, client), hasReturned: false, hasEnded: false }
          const returned = () => {
            started.hasReturned = true
          }
          void started.call.then(returned, returned)
          running[index] = started
        } else {
          earlier.ending = earlier.call.then((created) => end(one, client, created))
          const ended = () => {
            earlier.hasEnded = true
          }
          void earlier.ending.then(ended, ended)
        }
        await settle(running.filter((one) => one !== undefined))
      }
      await Promise.all(running.map((one) => one?.ending))
      await list()
    }
  }

  test('two connections behave as a plain list in any order', async () => {
    const rounds = fc.array(round, { minLength: 1, maxLength: 4 })
    await fc.assert(fc.asyncProperty(rounds, compare), { numRuns: 60, endOnFailure: true })
  })
})

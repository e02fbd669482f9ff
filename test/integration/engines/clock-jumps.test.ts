import { Redis } from 'ioredis'
import Libsql from 'libsql'
import { Pool } from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { redis } from '../../../adapters/back-ends/redis/index.ts'
import { sqlite } from '../../../adapters/back-ends/sqlite/index.ts'
import { type Clock, memory, type QuotaStore } from '../../../src/index.ts'
import { manualClock } from '../../../src/testing/index.ts'
import { postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missingRedis, startRedis } from '../../support/redis-server.ts'
import { missing } from '../../support/skips.ts'
import { until } from '../../support/until.ts'

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)
const noRedis = missingRedis()

let pool: Pool
let client: Redis
const stops: (() => unknown)[] = []
beforeAll(async () => {
  if (!noPostgres) {
    const server = await startPostgres()
    pool = new Pool({ connectionString: server.url })
    await postgres(pool).migrate()
    stops.push(async () => {
      await pool.end()
      await server.remove()
    })
  }
  if (!noRedis) {
    const server = await startRedis()
    client = new Redis(server.url)
    stops.push(async () => {
      await client.quit()
      await server.remove()
    })
  }
})
afterAll(async () => {
  for (const stop of stops) await stop()
})

interface Engine {
  readonly name: string
  readonly skipped: boolean
  /** Whether the engine deletes a counter two days after its end by the clock that has jumped. */
  readonly deletes: boolean
  open(clock: Clock): QuotaStore
}

const engines: Engine[] = [
  { name: 'memory', skipped: false, deletes: false, open: (clock) => memory({ clock }).quota },
  { name: 'SQLite', skipped: false, deletes: true, open: (clock) => sqlite(new Libsql(':memory:'), { clock }).quota },
  { name: 'PostgreSQL', skipped: noPostgres, deletes: true, open: (clock) => postgres(pool, { clock }).quota },
  // Redis deletes by its own clock.
  { name: 'Redis', skipped: noRedis, deletes: false, open: (clock) => redis(client, { clock }).quota },
]

const DAY = 86_400_000
const rules = {
  anonymous: false,
  limits: { perMinute: 3, perDay: 3 },
  ban: { afterRefusals: 1, seconds: 300 },
} as const
let subjects = 0

/** Returns a store with a client that has used up its limits and is banned, at noon. */
async function bannedClient(engine: Engine) {
  const clock = manualClock(Date.UTC(2026, 0, 1, 12))
  const quota = engine.open(clock)
  const subject = `key:${engine.name}:${++subjects}`
  const spend = (of = subject) => quota.spend({ ...rules, subject: of, now: clock.now() })
  const peek = () => quota.peek?.({ ...rules, subject, now: clock.now() })
  for (let i = 0; i < 4; i++) await spend()
  expect(await peek()).toMatchObject({ granted: false, usedInDay: 3, bannedUntil: clock.now() + 300_000 })
  /** Enough requests for each engine to delete old counters. */
  const others = () => Promise.all(Array.from({ length: 500 }, (_, i) => spend(`key:other:${i % 5}`)))
  return { clock, spend, peek, others }
}

for (const engine of engines)
  describe.skipIf(engine.skipped)(`a clock that is ahead and then set back, on ${engine.name}`, () => {
    test.each([60_000, DAY, 2 * DAY])('%i ms ahead: limit and ban stay', async (ahead) => {
      const { clock, spend, peek, others } = await bannedClient(engine)
      clock.advance(ahead)
      await others()
      clock.advance(-ahead)
      expect(await peek()).toMatchObject({ granted: false, usedInDay: 3, bannedUntil: clock.now() + 300_000 })
      clock.advance(300_000)
      expect(await spend()).toMatchObject({ granted: false, usedInDay: 3 })
    })

    test(`four days ahead: the counter ${engine.deletes ? 'is deleted' : 'stays'}`, async () => {
      const { clock, peek, others } = await bannedClient(engine)
      clock.advance(4 * DAY)
      await others()
      clock.advance(-4 * DAY)
      if (engine.deletes) await until(async () => (await peek())?.granted === true)
      else expect(await peek()).toMatchObject({ granted: false, usedInDay: 3 })
    })

    test('a client that sends a request while the clock is ahead begins anew', async () => {
      const { clock, spend } = await bannedClient(engine)
      clock.advance(DAY)
      expect(await spend()).toMatchObject({ granted: true, usedInDay: 1 })
      clock.advance(-DAY)
      expect(await spend()).toMatchObject({ granted: true, usedInDay: 2, dayEndsAt: clock.now() + DAY })
    })
  })

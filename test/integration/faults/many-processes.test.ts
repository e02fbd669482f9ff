import type { Pool } from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type PostgresBackEnd, postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { type PostgresServer, postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { missingRedis, REDIS_PROGRAMS, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { missing } from '../../support/skips.ts'
import { buildWorker, startWorker, type WorkerProcess } from '../../support/worker-process.ts'

const PROCESSES = 4
const REPETITIONS = Number(process.env.REPETITIONS ?? 2)
/** The time limit in milliseconds. It is long because five processes are slow on a busy machine. */
const KILLS = Number(process.env.KILLS ?? 4)

const noPostgres = missing('PostgreSQL', (await postgresPrograms()) !== undefined)

describe.skipIf(noPostgres)('many processes', () => {
  let server: PostgresServer
  let pool: Pool
  let backEnd: PostgresBackEnd
  let worker: Awaited<ReturnType<typeof buildWorker>>
  beforeAll(async () => {
    ;[server, worker] = await Promise.all([startPostgres(), buildWorker()])
    pool = openPool(server.url)
    backEnd = postgres(pool)
  })
  beforeEach(() => pool.query('DROP SCHEMA IF EXISTS petstore CASCADE'))
  afterAll(async () => {
    await pool.end()
    await Promise.all([server.remove(), worker.remove()])
  })

  /** Only the daily limit is low, because a minute could end during the test. */
  const limits = { perMinute: 1_000_000, perDay: 1_000 }

  async function countServed(redisUrl?: string): Promise<void> {
    const options = { postgresUrl: server.url, limits, ...(redisUrl !== undefined && { redisUrl }) }
    const workers = await Promise.all(Array.from({ length: PROCESSES }, () => startWorker(worker.program, options)))
    try {
      for (let repetition = 0; repetition < REPETITIONS; repetition++) expect(await crowd(workers)).toEqual(EXACTLY)
    } finally {
      await Promise.all(workers.map((one) => one.kill()))
    }
  }

  const EXACTLY = { 200: 1_000, 429: 9_000 }

  async function crowd(workers: readonly WorkerProcess[]): Promise<Record<number, number>> {
    const { token } = await backEnd.keyStore.issue({ plan: 'free' })
    const burst = { token, requests: 10_000 / PROCESSES }
    const counts: Record<number, number> = {}
    for (const status of (await Promise.all(workers.map((one) => one.burst(burst)))).flat()) {
      counts[status] = (counts[status] ?? 0) + 1
    }
    return counts
  }

  test('many processes serve exactly the daily limit of 1,000 requests', () => countServed())

  for (const program of REDIS_PROGRAMS) {
    test.skipIf(missingRedis(program))(
      `many processes that count in ${program} serve exactly the daily limit of 1,000 requests`,
      async () => {
        const redis: RedisServer = await startRedis({ program })
        await countServed(redis.url).finally(() => redis.remove())
      },
    )
  }

  test('no acknowledged animal is lost when a process is killed', async () => {
    const acknowledged = new Map<bigint, string>()
    let latest = 0n
    await backEnd.migrate()
    const options = { postgresUrl: server.url, limits: { perMinute: 1_000_000, perDay: 1_000_000 } }
    const { token } = await backEnd.keyStore.issue({ plan: 'free' })
    for (let kill = 0; kill < KILLS; kill++) {
      const process = await startWorker(worker.program, options)
      const created = await createUntilKilled(process, token, `round ${kill}`)
      expect(created.every(({ id }) => id > latest && !acknowledged.has(id))).toBe(true)
      for (const { id, name } of created) acknowledged.set(id, name)
      for (const { id } of created) if (id > latest) latest = id
    }
    const { rows } = await pool.query<{ id: string; name: string }>('SELECT id::text, name FROM petstore.pets')
    const kept = new Map(rows.map(({ id, name }) => [BigInt(id), name]))
    expect(kept.size).toBe(rows.length)
    for (const [id, name] of acknowledged) expect(kept.get(id)).toBe(name)
  })
})

interface CreatedPet {
  readonly id: bigint
  readonly name: string
}

/** Lets 8 clients create animals, and kills the process after 60 responses, under load. Returns the created animals. */
async function createUntilKilled(worker: WorkerProcess, token: string, label: string): Promise<CreatedPet[]> {
  const created: CreatedPet[] = []
  let killed: Promise<void> | undefined
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const client = async (number: number) => {
    for (let i = 0; ; i++) {
      const name = `${label}, ${number}.${i}`
      const body = JSON.stringify({ name, categoryId: 1 })
      const text = await fetch(`${worker.url}/pets`, { method: 'POST', headers, body })
        .then((response) => (response.status === 201 ? response.text() : undefined))
        .catch(() => undefined)
      if (text === undefined) return
      created.push({ id: BigInt((JSON.parse(text) as { id: number }).id), name })
      if (created.length >= 60) killed ??= worker.kill()
    }
  }
  await Promise.all(Array.from({ length: 8 }, (_, number) => client(number)))
  if (killed === undefined) throw new Error('the process rejected an animal')
  await killed
  return created
}

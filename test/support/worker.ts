/** A program that serves the API, for tests with several processes. It reads its options from the variable WORKER. */
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { postgres } from '../../adapters/back-ends/postgres/index.ts'
import { redis } from '../../adapters/back-ends/redis/index.ts'
import { serve } from '../../adapters/hosts/node/index.ts'
import { createPetStore, type PlanLimits } from '../../src/index.ts'

/** The options of a worker. */
export interface WorkerOptions {
  readonly postgresUrl: string
  readonly redisUrl?: string
  readonly limits: PlanLimits
}

/** A command to a worker: concurrent requests with one key. */
export interface Burst {
  readonly token: string
  readonly requests: number
}

const { postgresUrl, redisUrl, limits } = JSON.parse(process.env.WORKER ?? '') as WorkerOptions
const pool = new Pool({ connectionString: postgresUrl, max: 10 })
pool.on('error', () => {})
// On a busy machine, a write may wait long for its lock. Stay below half of the store's timeout.
const backEnd = postgres(pool, { lockTimeout: 25_000 })
const quota = redisUrl === undefined ? {} : redis(new Redis(redisUrl))
await backEnd.migrate()
const petStore = createPetStore({ ...backEnd, ...quota, plans: { free: limits }, ban: false, timeout: 60_000 })
const { url } = await serve(petStore, { port: 0 })

process.on('message', async ({ token, requests }: Burst) => {
  const request = () => new Request(`http://localhost/v1/pets`, { headers: { authorization: `Bearer ${token}` } })
  const responses = await Promise.all(Array.from({ length: requests }, () => petStore.fetch(request())))
  process.send?.(responses.map(({ status }) => status))
})
process.on('disconnect', () => process.exit())
process.send?.(url + petStore.basePath)

import { rm } from 'node:fs/promises'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisClient, redis } from '../../../adapters/back-ends/redis/index.ts'
import { createPetStore, memory, type PetStoreOptions } from '../../../src/index.ts'
import { addAnimal, startLoad } from '../../support/load.ts'
import { missingRedis, REDIS_PROGRAMS, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { until } from '../../support/until.ts'

for (const program of REDIS_PROGRAMS) {
  describe.skipIf(missingRedis(program))(`faults of ${program}`, () => {
    let server: RedisServer
    let io: Redis
    /** A second client. The first client cannot send commands while it waits for a reply. */
    let admin: Redis
    let node: ReturnType<typeof createClient>
    const clients: Record<string, () => RedisClient> = { ioredis: () => io, 'node-redis': () => node }
    const backEnd = memory()
    let token: string
    beforeAll(async () => {
      server = await startRedis({ program })
      const retry = () => 50
      io = new Redis(server.url, { maxRetriesPerRequest: 0, retryStrategy: retry })
      io.on('error', () => {})
      admin = new Redis(server.url, { retryStrategy: retry })
      admin.on('error', () => {})
      node = createClient({ url: server.url, disableOfflineQueue: true, socket: { reconnectStrategy: retry } })
      node.on('error', () => {})
      await node.connect()
      token = (await backEnd.keyStore.issue({ plan: 'free' })).token
    })
    afterAll(async () => {
      io.disconnect()
      admin.disconnect()
      node.destroy()
      await server.remove()
    })

    function open(client: RedisClient, options: PetStoreOptions = {}) {
      const errors: unknown[] = []
      const plans = { free: { perMinute: 1_000_000, perDay: 1_000_000 } }
      const onError = (error: unknown) => errors.push(error)
      return { petStore: createPetStore({ ...backEnd, ...redis(client), plans, onError, ...options }), errors }
    }

    describe.each(Object.keys(clients))('%s', (name) => {
      const client = () => clients[name]?.() as RedisClient

      test('servers survive a restart of Redis under load', async () => {
        const { petStore, errors } = open(client())
        const load = startLoad(petStore, token)
        await load.reach(201, 100)
        await server.stop()
        await load.reach(503, 20)
        await server.start()
        await load.reach(201, 100)
        await load.stop()
        const refused = load.results.filter(({ status }) => status !== 201)
        expect(refused.every(({ status, retryAfter }) => status === 503 && Number(retryAfter) >= 1)).toBe(true)
        expect(errors.length).toBe(refused.length)
      })

      test("serves requests while Redis is down if onQuotaFailure is 'allow'", async () => {
        const { petStore, errors } = open(client(), { onQuotaFailure: 'allow' })
        const load = startLoad(petStore, token)
        await load.reach(201, 50)
        await server.stop()
        await load.reach(201, 200)
        await server.start()
        await load.stop()
        expect(new Set(load.results.map(({ status }) => status))).toEqual(new Set([201]))
        expect(errors.length).toBeGreaterThan(0)
      })

      test('servers survive SCRIPT FLUSH of Redis under load', async () => {
        await untilReady()
        const { petStore, errors } = open(client())
        const load = startLoad(petStore, token)
        for (let flush = 0; flush < 5; flush++) {
          await load.reach(201, 50)
          await admin.script('FLUSH')
        }
        await load.reach(201, 50)
        await load.stop()
        expect([new Set(load.results.map(({ status }) => status)), errors]).toEqual([new Set([201]), []])
      })

      test('servers count from zero after FLUSHALL of Redis', async () => {
        await untilReady()
        await admin.flushall()
        const statuses = async () => {
          // Open a new pet store each time, because a pet store remembers refused keys until their window ends.
          const { petStore } = open(client(), { plans: { free: { perMinute: 1_000_000, perDay: 3 } }, ban: false })
          const first = [addAnimal(petStore, token), addAnimal(petStore, token), addAnimal(petStore, token)]
          return (await Promise.all([...first, addAnimal(petStore, token)])).map(({ status }) => status).sort()
        }
        expect(await statuses()).toEqual([201, 201, 201, 429])
        await admin.multi().flushall().script('FLUSH').exec()
        expect(await statuses()).toEqual([201, 201, 201, 429])
      })

      test('requests get 503 after the timeout while Redis is slow, then recover', async () => {
        await untilReady()
        const { petStore, errors } = open(client(), { timeout: 100 })
        await admin.call('CLIENT', 'PAUSE', '60000', 'WRITE')
        const slow = await addAnimal(petStore, token)
        await admin.call('CLIENT', 'UNPAUSE')
        expect(slow).toMatchObject({ status: 503, retryAfter: '5' })
        expect(errors.length).toBe(1)
        expect((await addAnimal(open(client()).petStore, token)).status).toBe(201)
      })

      test('requests get 503 while Redis is out of memory', async () => {
        await untilReady()
        const { petStore } = open(client())
        await admin.config('SET', 'maxmemory', '1')
        expect(await addAnimal(petStore, token)).toMatchObject({ status: 503, retryAfter: '5' })
        await admin.config('SET', 'maxmemory', '0')
        expect((await addAnimal(petStore, token)).status).toBe(201)
      })

      test('a Redis value of the wrong type causes 500', async () => {
        await untilReady()
        await admin.flushall()
        const [{ id } = { id: '' }] = await backEnd.keyStore.list({ limit: 1_000 })
        await admin.lpush(`petstore:quota:key:${id}`, 'not a count')
        expect(await addAnimal(open(client()).petStore, token)).toMatchObject({ status: 500, retryAfter: null })
        await admin.flushall()
      })
    })

    /** Waits until both clients have connected again. */
    async function untilReady(): Promise<void> {
      await until(async () => (await io.ping()) === (await node.ping()))
    }

    test('requests get 503 while Redis cannot save to its folder', async () => {
      const own = await startRedis({ program })
      const client = new Redis(own.url)
      await client.config('SET', 'save', '1 1')
      await rm(own.folder, { recursive: true })
      await client.set('any', 'thing')
      await client.bgsave().catch(() => {})
      await until(async () => (await client.info('persistence')).includes('rdb_last_bgsave_status:err'))
      expect(await addAnimal(open(client).petStore, token)).toMatchObject({ status: 503, retryAfter: '5' })
      client.disconnect()
      await own.remove()
    })
  })
}

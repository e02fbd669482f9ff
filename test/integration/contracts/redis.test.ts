import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type RedisClient, redis } from '../../../adapters/back-ends/redis/index.ts'
import { quotaContract } from '../../../src/testing/index.ts'
import { missingRedis, REDIS_PROGRAMS, type RedisServer, startRedis } from '../../support/redis-server.ts'

for (const program of REDIS_PROGRAMS) {
  describe.skipIf(missingRedis(program))(program, () => {
    let server: RedisServer
    let io: Redis
    let node: ReturnType<typeof createClient>
    beforeAll(async () => {
      server = await startRedis({ program })
      io = new Redis(server.url)
      node = createClient({ url: server.url })
      await node.connect()
    })
    afterAll(async () => {
      io.disconnect()
      node.destroy()
      await server.remove()
    })

    const clients: Record<string, () => RedisClient> = {
      ioredis: () => io,
      'node-redis': () => node,
      'a function':
        () =>
        (command, ...args) =>
          io.call(command, ...args),
    }
    for (const [name, client] of Object.entries(clients)) {
      quotaContract(
        { describe, test },
        {
          name,
          open: async (clock) => {
            await io.flushall()
            return { port: redis(client(), { clock }).quota, close: async () => {} }
          },
        },
      )
    }
  })
}

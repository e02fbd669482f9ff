import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { COMMANDS } from '../../../adapters/back-ends/redis/connection.ts'
import { type RedisClient, redis } from '../../../adapters/back-ends/redis/index.ts'
import { openRedis } from '../../../adapters/cli/engines/servers.ts'
import { quotaContract } from '../../../src/testing/index.ts'
import { missingRedis, REDIS_PROGRAMS, type RedisServer, startRedis } from '../../support/redis-server.ts'

for (const program of REDIS_PROGRAMS) {
  describe.skipIf(missingRedis(program))(program, () => {
    let server: RedisServer
    let io: Redis
    let node: ReturnType<typeof createClient>
    /** A user who may send only the documented commands, for keys that begin with `shop:`. */
    let restricted: Redis
    beforeAll(async () => {
      server = await startRedis({ program })
      io = new Redis(server.url)
      node = createClient({ url: server.url })
      await node.connect()
      restricted = await userWith('~shop:*', '+info', ...COMMANDS.split(' '))
    })
    afterAll(async () => {
      io.disconnect()
      node.destroy()
      restricted.disconnect()
      await server.remove()
    })

    /** Returns a client of a new user. */
    async function userWith(...rights: string[]): Promise<Redis> {
      const username = `user-${users++}`
      await io.call('ACL', 'SETUSER', username, 'on', '>password', ...rights)
      return new Redis(server.url, { username, password: 'password' })
    }
    let users = 0

    const clients: Record<string, () => RedisClient> = {
      ioredis: () => io,
      'ioredis with few rights': () => restricted,
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
            return { port: redis(client(), { clock, prefix: 'shop:' }).quota, close: async () => {} }
          },
        },
      )
    }

    const request = {
      subject: 'key:a',
      anonymous: false,
      limits: { perMinute: 1, perDay: 1 },
      ban: false,
      now: 0,
    } as const

    test.each(['time', 'eval', 'set'])('a user who may not send %s gets an error with all rights', async (command) => {
      const client = await userWith('~shop:*', '+info', ...COMMANDS.split(' '), `-${command}`)
      onTestFinished(() => client.disconnect())
      await io.script('FLUSH')
      await expect(async () => redis(client, { prefix: 'shop:' }).quota.spend(request)).rejects.toMatchObject({
        code: 'invalid_option',
        message: expect.stringContaining(`permit ~shop:* ${COMMANDS}, got the error "`),
      })
    })

    test('a server that forbids TIME in scripts gives an error that names it', async () => {
      const own = await startRedis({ program, settings: ['--rename-command', 'TIME', ''] })
      onTestFinished(() => own.remove())
      const client = new Redis(own.url)
      onTestFinished(() => client.disconnect())
      const message = /^option client: .*, got the error "ERR TIME: .*"$/
      await expect(async () => redis(client).quota.spend(request)).rejects.toThrow(message)
      await expect(openRedis(own.url)).rejects.toThrow(/^--redis-url: .*"ERR TIME: /)
    })
  })
}

import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest'
import { type RedisClient, redis } from '../../../adapters/back-ends/redis/index.ts'
import { ioRedisOptions, nodeRedisOptions } from '../../../adapters/cli/engines/servers.ts'
import { missingRedis, type RedisServer, startRedis } from '../../support/redis-server.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'

/** Timeouts in milliseconds. `response` is short, so that the tests are fast. */
const TIMEOUTS = { connect: 5_000, response: 300 }

const limits = { perMinute: 1_000, perDay: 1_000 }
const spending = (subject: string) => ({ subject, anonymous: false, limits, ban: false, now: 0 }) as const

async function openIoRedis(url: string): Promise<RedisClient> {
  const client = new Redis(url, ioRedisOptions(TIMEOUTS))
  client.on('error', () => {})
  onTestFinished(() => client.disconnect())
  await client.connect()
  return client
}

async function openNodeRedis(url: string): Promise<RedisClient> {
  const client = createClient(nodeRedisOptions(url, TIMEOUTS))
  client.on('error', () => {})
  onTestFinished(() => client.destroy())
  await client.connect()
  return client
}

describe.skipIf(missingRedis())('the options of the command', () => {
  let server: RedisServer
  let proxy: TcpProxy
  beforeAll(async () => {
    server = await startRedis()
  })
  afterAll(() => server.remove())
  beforeEach(async () => {
    proxy = await startTcpProxy(server.port)
    return proxy.close
  })

  describe.each([
    ['ioredis', openIoRedis],
    ['node-redis', openNodeRedis],
  ] as const)('%s', (name, open) => {
    test('spend rejects while Redis hangs, then recovers', async () => {
      const { quota } = redis(await open(server.url))
      await quota.spend(spending(`${name} still`))
      server.freeze()
      onTestFinished(server.thaw)
      await expect(async () => quota.spend(spending(`${name} still`))).rejects.toMatchObject({
        code: 'service_unavailable',
      })
      server.thaw()
      await until(async () => (await quota.spend(spending(`${name} still`))).granted)
    })

    test('spend rejects while no server listens', async () => {
      const { quota } = redis(await open(`redis://127.0.0.1:${proxy.port}`))
      await quota.spend(spending(`${name} away`))
      proxy.close()
      const ask = async () => quota.spend(spending(`${name} away`))
      for (let i = 0; i < 3; i++) await expect(ask()).rejects.toMatchObject({ code: 'service_unavailable' })
    })

    test('counts a request only once if the reply of Redis is lost', async () => {
      const { quota } = redis(await open(`redis://127.0.0.1:${proxy.port}`))
      const subject = `${name} lost`
      expect((await quota.spend(spending(subject))).usedInDay).toBe(1)
      proxy.cutOnReply()
      await expect(async () => quota.spend(spending(subject))).rejects.toMatchObject({ code: 'service_unavailable' })
      let used = 0
      await until(async () => {
        used = (await quota.spend(spending(subject))).usedInDay
        return true
      })
      expect(used).toBe(3)
    })
  })

  test('ioredis finds the new primary even if the old primary keeps its connections', async () => {
    const { quota } = redis(await openIoRedis(`redis://127.0.0.1:${proxy.port}`))
    await quota.spend(spending('failover'))
    const promoted = await startRedis()
    onTestFinished(() => promoted.remove())
    proxy.redirect(promoted.port)
    const admin = new Redis(server.url)
    onTestFinished(() => admin.disconnect())
    await admin.replicaof('127.0.0.1', promoted.port)
    await expect(async () => quota.spend(spending('failover'))).rejects.toMatchObject({ code: 'service_unavailable' })
    await until(async () => (await quota.spend(spending('failover'))).granted)
    await admin.replicaof('NO', 'ONE')
  })
})

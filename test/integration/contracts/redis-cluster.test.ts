import { Cluster, Redis } from 'ioredis'
import { createClient, createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { type RedisClient, redis } from '../../../adapters/back-ends/redis/index.ts'
import { openRedis } from '../../../adapters/cli/engines/servers.ts'
import { createPetStore, type ManagedKeyStore } from '../../../src/index.ts'
import { quotaContract } from '../../../src/testing/index.ts'
import {
  missingRedis,
  REDIS_PROGRAMS,
  type RedisProgram,
  type RedisServer,
  startRedis,
} from '../../support/redis-server.ts'
import { freePort } from '../../support/server-process.ts'
import { startTcpProxy } from '../../support/tcp-proxy.ts'
import { until } from '../../support/until.ts'

const RANGES = [
  [0, 5_460],
  [5_461, 10_922],
  [10_923, 16_383],
] as const

for (const program of REDIS_PROGRAMS) {
  describe.skipIf(missingRedis(program))(`a cluster of ${program}`, () => {
    let servers: RedisServer[]
    let nodes: Redis[]
    let io: Cluster
    let node: ReturnType<typeof createCluster>
    beforeAll(async () => {
      servers = await Promise.all(RANGES.map(() => startNode(program)))
      nodes = servers.map(({ url }) => new Redis(url))
      await Promise.all(nodes.map((each, i) => each.call('CLUSTER', 'ADDSLOTSRANGE', ...(RANGES[i] ?? []))))
      for (const { port, busPort } of await Promise.all(servers.map(addressOf))) {
        await nodes[0]?.call('CLUSTER', 'MEET', '127.0.0.1', port, busPort)
      }
      await until(async () => {
        const states = await Promise.all(nodes.map((each) => each.call('CLUSTER', 'INFO')))
        return states.every((state) => /cluster_state:ok/.test(String(state)) && /known_nodes:3/.test(String(state)))
      })
      io = new Cluster(servers.map(({ port }) => ({ host: '127.0.0.1', port })))
      node = createCluster({ rootNodes: servers.map(({ url }) => ({ url })) })
      await node.connect()
    })
    afterAll(async () => {
      io.disconnect()
      for (const each of nodes) each.disconnect()
      node.destroy()
      await Promise.all(servers.map((server) => server.remove()))
    })

    const clients: Record<string, () => RedisClient> = { 'ioredis Cluster': () => io, 'node-redis cluster': () => node }
    const flush = () => Promise.all(nodes.map((each) => each.flushall()))
    for (const [name, client] of Object.entries(clients)) {
      quotaContract(
        { describe, test },
        {
          name,
          runs: 10,
          open: async (clock) => {
            await flush()
            return { port: redis(client(), { clock }).quota, close: async () => {} }
          },
        },
      )
    }

    test.each(['ioredis', 'node-redis'])('refuses a client of %s that talks to a single node', async (library) => {
      const url = servers[0]?.url ?? ''
      const single = library === 'ioredis' ? new Redis(url) : await createClient({ url }).connect()
      onTestFinished(() => ('destroy' in single ? single.destroy() : single.disconnect()))
      const { quota } = redis(single)
      const limits = { perMinute: 1, perDay: 1 }
      const spend = (subject: string) => quota.spend({ subject, anonymous: false, limits, ban: false, now: 0 })
      for (let i = 0; i < 10; i++)
        await expect(async () => spend(`key:${i}`)).rejects.toMatchObject({
          code: 'invalid_option',
          message: expect.stringMatching(/new Cluster\(.* of ioredis, or createCluster/),
        })
      const onError = vi.fn()
      const store = createPetStore({ ...redis(single), onError })
      expect((await store.fetch('http://localhost/v1/pets', { headers: await keyOf(store) })).status).toBe(500)
      expect(onError.mock.calls[0]?.[0]).toMatchObject({ message: expect.stringContaining('new Cluster') })
      await expect(openRedis(url)).rejects.toThrow(/^--redis-url: .* new Cluster/)
    })

    test('counts a request once with the documented settings if its reply is lost', async () => {
      await flush()
      const proxies = await Promise.all(servers.map(({ port }) => startTcpProxy(port)))
      const viaProxy = servers.map(({ port }, i) => [
        `127.0.0.1:${port}`,
        { host: '127.0.0.1', port: proxies[i]?.port ?? 0 },
      ])
      const cluster = new Cluster([{ host: '127.0.0.1', port: proxies[0]?.port ?? 0 }], {
        ...DOCUMENTED,
        natMap: Object.fromEntries(viaProxy),
      })
      onTestFinished(() => {
        cluster.disconnect()
        for (const proxy of proxies) proxy.close()
      })
      cluster.on('error', () => {})
      await cluster.connect()
      const { quota } = redis(cluster)
      const limits = { perMinute: 100, perDay: 100 }
      const spend = async (subject: string) => quota.spend({ subject, anonymous: false, limits, ban: false, now: 0 })
      expect((await spend('key:a')).usedInDay).toBe(1)
      for (const proxy of proxies) proxy.cutOnReply()
      await expect(spend('key:a')).rejects.toMatchObject({ code: 'service_unavailable' })
      expect(
        (await redis(io).quota.spend({ subject: 'key:a', anonymous: false, limits, ban: false, now: 0 })).usedInDay,
      ).toBe(3)
    })

    test('stores the counts of many subjects on all nodes', async () => {
      await flush()
      const { quota } = redis(io)
      const limits = { perMinute: 1, perDay: 1 }
      for (let i = 0; i < 60; i++)
        await quota.spend({ subject: `key:${i}`, anonymous: false, limits, ban: false, now: 0 })
      const sizes = await Promise.all(nodes.map((each) => each.dbsize()))
      expect(sizes.reduce((a, b) => a + b)).toBe(60)
      expect(sizes.every((size) => size > 0)).toBe(true)
    })
  })
}

/** The settings for a cluster in docs/back-ends.md. */
const DOCUMENTED = {
  lazyConnect: true,
  enableOfflineQueue: false,
  retryDelayOnFailover: 0,
  redisOptions: { maxRetriesPerRequest: 0, socketTimeout: 15_000 },
  clusterRetryStrategy: (attempt: number) => Math.min(attempt * 50, 500),
}

async function keyOf({ keyStore }: { readonly keyStore: ManagedKeyStore }): Promise<Record<string, string>> {
  return { authorization: `Bearer ${(await keyStore.issue({ plan: 'free' })).token}` }
}

async function startNode(program: RedisProgram): Promise<RedisServer> {
  return startRedis({ program, settings: ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())] })
}

async function addressOf({ url, port }: RedisServer): Promise<{ port: number; busPort: string }> {
  const client = new Redis(url)
  const [, busPort = ''] = (await client.config('GET', 'cluster-port')) as string[]
  client.disconnect()
  return { port, busPort }
}

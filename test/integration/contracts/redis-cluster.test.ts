import { Cluster, Redis } from 'ioredis'
import { createCluster } from 'redis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RedisClient, redis } from '../../../adapters/back-ends/redis/index.ts'
import { quotaContract } from '../../../src/testing/index.ts'
import {
  missingRedis,
  REDIS_PROGRAMS,
  type RedisProgram,
  type RedisServer,
  startRedis,
} from '../../support/redis-server.ts'
import { freePort } from '../../support/server-process.ts'
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

async function startNode(program: RedisProgram): Promise<RedisServer> {
  return startRedis({ program, settings: ['--cluster-enabled', 'yes', '--cluster-port', String(await freePort())] })
}

async function addressOf({ url, port }: RedisServer): Promise<{ port: number; busPort: string }> {
  const client = new Redis(url)
  const [, busPort = ''] = (await client.config('GET', 'cluster-port')) as string[]
  client.disconnect()
  return { port, busPort }
}

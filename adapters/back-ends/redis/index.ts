import * as z from 'zod/mini'
import type { Clock, QuotaStore } from '../../../src/index.ts'
import { expecting } from '../../../src/schemas/expected.ts'
import { clock, optionsOf } from '../../../src/schemas/options.ts'
import { parseOptions } from '../../../src/schemas/parse-options.ts'
import { type RedisClient, runnerOf } from './connection.ts'
import { redisQuota } from './quota.ts'
import { script } from './script.ts'

// This type is public in `petstore-kit`, too. Programs that emit declarations need it from this entry.
export type { QuotaStore } from '../../../src/ports.ts'
export type { BunRedisClient, IoRedisClient, NodeRedisClient, RedisClient } from './connection.ts'

/** The options of {@link redis}. */
export interface RedisOptions {
  /**
   * The first characters of all Redis keys, for two stores that count apart in one Redis, or for a
   * user with an ACL such as `~shop:*`. All servers of a store need the same. @default 'petstore:'
   */
  readonly prefix?: string | undefined
  /**
   * A clock for tests, in milliseconds since the Unix epoch.
   * @default Redis's time, so that machines with different clocks agree
   */
  readonly clock?: Clock | undefined
}

/**
 * A back end on Redis. It counts requests; combine it with another back end for animals and keys.
 */
export interface RedisBackEnd {
  /** The request counters. */
  readonly quota: QuotaStore
}

const redisOptions = optionsOf<RedisOptions>({
  prefix: z.optional(z.string(expecting('a string'))),
  clock: z.optional(clock),
})

/**
 * Counts requests in Redis 5 or later, or Valkey, for any number of processes: one round trip per
 * request. Counters expire by themselves.
 *
 * The client remains yours: listen to its `error` event, and close it when you are done. While
 * Redis is down, most clients queue commands and retry. Turn that off (ioredis:
 * `enableOfflineQueue: false`, `maxRetriesPerRequest: 0` and a short `retryStrategy`; node-redis:
 * `disableOfflineQueue: true`), so that a request gets its 503 at once and no request is counted
 * twice. Without a queue, requests fail until the client has connected, so wait for `connect()`. A
 * node-redis client with a `socketTimeout` also needs a `reconnectStrategy`, because otherwise it
 * never reconnects after a time-out.
 *
 * @param client - a client or cluster of ioredis or node-redis, a client of Bun, or
 * `(...words) => Promise` for any other
 * @throws {PetStoreError} `invalid_option` if the client or an option is invalid
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { createPetStore } from 'petstore-kit'
 * import { redis } from 'petstore-kit/redis'
 *
 * const client = new Redis('redis://127.0.0.1:6379', {
 *   lazyConnect: true,
 *   enableOfflineQueue: false,
 *   maxRetriesPerRequest: 0,
 *   retryStrategy: (attempt) => Math.min(attempt * 50, 500),
 * })
 * client.on('error', ({ message }) => console.error(message))
 * await client.connect()
 * const petStore = createPetStore({ ...redis(client) })
 * ```
 */
export function redis(client: RedisClient, options: RedisOptions = {}): RedisBackEnd {
  const { prefix = 'petstore:', clock } = parseOptions(redisOptions, options)
  return { quota: redisQuota(runnerOf(client, script, prefix), prefix, clock) }
}

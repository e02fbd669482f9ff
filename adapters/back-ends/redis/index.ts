import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { checkOptions, clockRule, type OptionRules } from '../../../src/support/option-rules.ts'
import { bucketOf } from '../shared/anonymous-buckets.ts'
import { hex, subjectName } from '../shared/subject.ts'
import { unavailable } from '../shared/unavailable.ts'
import { type Evaluator, evaluatorOf, type RedisClient } from './connection.ts'
import { concealCommand, isScriptMissing, isUnavailable } from './errors.ts'
import { script } from './script.ts'

export type { BunRedisClient, IoRedisClient, NodeRedisClient, RedisClient } from './connection.ts'

/** The options of {@link redis}. */
export interface RedisOptions {
  /** The prefix of all Redis keys. @default 'petstore:' */
  readonly prefix?: string | undefined
  /**
   * A clock for tests. It returns milliseconds since the Unix epoch.
   *
   * @default Redis's time, so that machines with different clocks count alike
   */
  readonly clock?: Clock | undefined
}

const RULES: OptionRules<keyof RedisOptions> = {
  prefix: { expected: 'a string', check: (value) => typeof value === 'string' },
  clock: clockRule,
}

/**
 * Counts requests in Redis 5 or later, or Valkey, for any number of processes: one round trip per request. Counters expire by
 * themselves.
 *
 * The client remains yours: listen to its `error` event, and close it when you are done. While Redis is down, most clients queue
 * commands and retry. Turn that off (ioredis: `enableOfflineQueue: false`, `maxRetriesPerRequest: 0` and a short `retryStrategy`;
 * node-redis: `disableOfflineQueue: true`), so that a request gets its 503 at once and no request is counted twice. Without a
 * queue, requests fail until the client has connected, so wait for `connect()`. A node-redis client with a `socketTimeout` also
 * needs a `reconnectStrategy`, because otherwise it never reconnects after a time-out.
 *
 * @param client - a client or cluster of ioredis or node-redis, a client of Bun, or `(...words) => Promise` for any other
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
export function redis(client: RedisClient, options: RedisOptions = {}): { readonly quota: QuotaStore } {
  checkOptions(RULES, options)
  const { prefix = 'petstore:', clock } = options
  const run = runner(evaluatorOf(client))

  async function spend(request: QuotaRequest): Promise<QuotaCount> {
    const name = subjectName(request.subject)
    const subject = typeof name === 'string' ? name : await name
    const key = request.anonymous ? `${prefix}anonymous:${bucketOf(subject)}` : `${prefix}quota:${subject}`
    const args = [...argumentsOf(request, clock), request.anonymous ? subject : '']
    return toCount(await run(key, args), request)
  }
  return { quota: { spend } }
}

/** Returns a function that runs the script by its SHA-1. Sends the script itself only if Redis does not know it. */
function runner(evaluator: Evaluator): (key: string, args: string[]) => Promise<unknown> {
  let sha1: string | undefined
  const run = async (key: string, args: string[]) => {
    sha1 ??= hex(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(script)))
    try {
      return await evaluator.evalSha(sha1, key, args)
    } catch (error) {
      if (!isScriptMissing(error)) throw error
    }
    return evaluator.eval(script, key, args)
  }
  return async (key, args) => {
    try {
      return await run(key, args)
    } catch (error) {
      concealCommand(error)
      throw isUnavailable(error) ? unavailable(error) : error
    }
  }
}

function argumentsOf({ limits, ban }: QuotaRequest, clock: Clock | undefined): string[] {
  const rule = ban === false ? ['', ''] : [String(ban.afterRefusals), String(ban.seconds * 1000)]
  return [String(limits.perMinute), String(limits.perDay), ...rule, clock === undefined ? '' : String(clock.now())]
}

/** Converts the reply: whether the request is granted, the time, and the six numbers of the state. */
function toCount(reply: unknown, { ban }: QuotaRequest): QuotaCount {
  const [granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, , banEndsAt] = String(reply)
    .split(' ')
    .map(Number) as [number, number, number, number, number, number, number, number]
  const bannedUntil = ban === false ? 0 : banEndsAt
  return { granted: granted === 1, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, bannedUntil }
}

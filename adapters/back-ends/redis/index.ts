import type { Clock, QuotaCount, QuotaRequest, QuotaStore } from '../../../src/index.ts'
import { checkOptions, clockRule, type OptionRules } from '../../../src/support/option-rules.ts'
import { bucketOf } from '../shared/anonymous-buckets.ts'
import { hex, subjectName } from '../shared/subject.ts'
import { unavailable } from '../shared/unavailable.ts'
import { type Evaluator, evaluatorOf, type RedisClient } from './client.ts'
import { concealCommand, isScriptMissing, isUnavailable } from './failure.ts'
import { script } from './script.ts'

export type { BunRedisClient, IoRedisClient, NodeRedisClient, RedisClient } from './client.ts'

/** The options of {@link redis}. */
export interface RedisOptions {
  /** What the names of all keys begin with. @default 'petstore:' */
  readonly prefix?: string | undefined
  /**
   * The time to live by in tests, in milliseconds since the Unix epoch.
   *
   * @default the engine's own, so that machines whose clocks differ count alike
   */
  readonly clock?: Clock | undefined
}

const RULES: OptionRules<keyof RedisOptions> = {
  prefix: { expected: 'a string', check: (value) => typeof value === 'string' },
  clock: clockRule,
}

/**
 * Counts requests in Redis 5 or later, or Valkey, for any number of processes: one round trip a request, one key a subject,
 * which expires by itself.
 *
 * The client stays yours: listen to its `error` event, and close it when you are done. While Redis is away, most clients
 * hold commands back and try for long; have them give up sooner (`maxRetriesPerRequest: 0` for ioredis,
 * `disableOfflineQueue: true` for node-redis), so that callers get their 503 at once, and so that no request whose reply was
 * lost is sent again and counted twice. A node-redis with a `socketTimeout` needs a `reconnectStrategy` too: by itself it
 * never connects anew after one.
 *
 * @param client - a client or cluster of ioredis or node-redis, a client of Bun, or `(...words) => Promise` for any other
 * @throws {PetStoreError} `invalid_option` where the client is none of these
 * @example
 * ```ts
 * import { Redis } from 'ioredis'
 * import { createPetStore } from 'petstore-kit'
 * import { redis } from 'petstore-kit/redis'
 *
 * const client = new Redis('redis://127.0.0.1:6379', { lazyConnect: true, maxRetriesPerRequest: 0 })
 * client.on('error', ({ message }) => console.error(message))
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

/** Sends the script's SHA-1, and the script itself only where the engine does not have it. */
function runner(evaluator: Evaluator): (key: string, args: string[]) => Promise<unknown> {
  let sha1: string | undefined
  return async (key, args) => {
    sha1 ??= await sha1Of(script)
    try {
      return await evaluator.evalSha(sha1, key, args)
    } catch (error) {
      if (!isScriptMissing(error)) throw translated(error)
    }
    return evaluator.eval(script, key, args).catch((error: unknown) => {
      throw translated(error)
    })
  }
}

function translated(error: unknown): unknown {
  concealCommand(error)
  return isUnavailable(error) ? unavailable(error) : error
}

async function sha1Of(text: string): Promise<string> {
  return hex(await crypto.subtle.digest('SHA-1', new TextEncoder().encode(text)))
}

function argumentsOf({ limits, ban }: QuotaRequest, clock: Clock | undefined): string[] {
  const rule = ban === false ? ['', ''] : [String(ban.afterRefusals), String(ban.seconds * 1000)]
  return [String(limits.perMinute), String(limits.perDay), ...rule, clock === undefined ? '' : String(clock.now())]
}

/** The reply: whether it is granted, the time, and the six numbers of the state, of which a client is not told the refusals. */
function toCount(reply: unknown, { ban }: QuotaRequest): QuotaCount {
  const [granted, now, usedInMinute, minuteEndsAt, usedInDay, dayEndsAt, , bannedUntil] = String(reply)
    .split(' ')
    .map(Number) as [number, number, number, number, number, number, number, number]
  return {
    granted: granted === 1,
    now,
    usedInMinute,
    minuteEndsAt,
    usedInDay,
    dayEndsAt,
    bannedUntil: ban === false ? 0 : bannedUntil,
  }
}

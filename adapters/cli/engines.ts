import type { QuotaStore } from '../../src/index.ts'
import { type PostgresClient, postgres } from '../back-ends/postgres/index.ts'
import { type RedisClient, redis } from '../back-ends/redis/index.ts'
import { loadDriver, using } from './driver.ts'
import type { OpenedBackEnd } from './opened-back-end.ts'
import { ioRedisOptions, nodeRedisOptions, type Patience } from './redis-options.ts'

const PATIENCE: Patience = { connect: 5_000, answer: 15_000 }

interface Events {
  on(event: 'error', listener: (error: Error) => void): unknown
}

type Pool = PostgresClient & Events & { end(): Promise<void> }
type Pg = { Pool: new (options: object) => Pool }

/** Opens a back end in PostgreSQL, and brings its tables up to date. */
export async function openPostgres(url: string): Promise<OpenedBackEnd> {
  const place = `PostgreSQL at ${placeOf(url, '--database-url', /^postgres(?:ql)?:$/, 'postgres://user@host:5432/name')}`
  const module = (await loadDriver('pg')) as (Pg & { default?: Pg }) | undefined
  if (module === undefined) throw new Error('--database-url needs the driver of PostgreSQL: npm install pg')
  const { Pool } = module.default ?? module
  const pool = new Pool({
    connectionString: url,
    connectionTimeoutMillis: PATIENCE.connect,
    query_timeout: PATIENCE.answer,
  })
  pool.on('error', () => {})
  const close = () => pool.end()
  try {
    const { migrate, ...backEnd } = postgres(pool)
    await using(place, migrate)
    reportErrors(place, pool)
    return { ...backEnd, place, close }
  } catch (error) {
    await close()
    throw error
  }
}

type IoRedis = Events & { connect(): Promise<unknown>; disconnect(): void } & RedisClient
type IoRedisDriver = { Redis: new (url: string, options: object) => IoRedis }
type NodeRedis = Events & { connect(): Promise<unknown>; destroy(): void } & RedisClient
type NodeRedisDriver = { createClient(options: object): NodeRedis }

/** What counts requests in Redis. */
export interface OpenedQuota {
  readonly quota: QuotaStore
  readonly place: string
  close(): Promise<void>
}

/** Opens a quota store in Redis. */
export async function openRedis(url: string): Promise<OpenedQuota> {
  const place = `Redis at ${placeOf(url, '--redis-url', /^rediss?:$/, 'redis://host:6379')}`
  const { client, close } = await findRedis(url, place)
  const failed = new Promise<never>((_resolve, reject) => client.on('error', reject))
  try {
    await using(place, () => Promise.race([client.connect(), failed]))
    reportErrors(place, client)
    return { ...redis(client), place, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** Both are told to give up at once while the engine is away, so that callers get their 503. */
async function findRedis(
  url: string,
  place: string,
): Promise<{ client: IoRedis | NodeRedis; close: () => Promise<void> }> {
  const ioredis = (await loadDriver('ioredis')) as IoRedisDriver | undefined
  if (ioredis !== undefined) {
    const client = await using(place, () => new ioredis.Redis(url, ioRedisOptions(PATIENCE)))
    return { client, close: async () => client.disconnect() }
  }
  const nodeRedis = (await loadDriver('redis')) as NodeRedisDriver | undefined
  if (nodeRedis === undefined) throw new Error('--redis-url needs a driver of Redis: npm install ioredis')
  const client = await using(place, () => nodeRedis.createClient(nodeRedisOptions(url, PATIENCE)))
  return { client, close: async () => client.destroy() }
}

/** Drivers connect anew by themselves, and tell of each failure: it is printed where it differs from the last. */
function reportErrors(place: string, client: Events): void {
  let last: string | undefined
  client.on('error', ({ message }) => {
    if (message !== last) console.error(`petstore: ${place}: ${message}`)
    last = message
  })
}

/** What of a URL may be shown: it may hold a password. */
function placeOf(url: string, flag: string, protocol: RegExp, example: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !protocol.test(parsed.protocol))
    throw new Error(`${flag}: expected a URL such as ${example}`)
  if (parsed.pathname.includes('@')) throw new Error(`${flag}: a "/" in a name or a password is written %2F`)
  return `${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}`
}

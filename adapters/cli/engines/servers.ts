import { isPetStoreError } from '../../../src/errors.ts'
import { innermostMessage } from '../../../src/support/describe-value.ts'
import { type PostgresClient, postgres } from '../../back-ends/postgres/index.ts'
import { postgresTables } from '../../back-ends/postgres/tables.ts'
import { isMoved } from '../../back-ends/redis/errors.ts'
import { type RedisClient, redis } from '../../back-ends/redis/index.ts'
import { passwordsOf } from '../terminal/flags.ts'
import { printError } from '../terminal/output.ts'
import { closeOnFailure, loadDriver, type OpenedBackEnd, type OpenedTables, using } from './driver.ts'

/**
 * In milliseconds. Without `response`, a command would wait forever for a server that is gone but
 * has closed no connection.
 */
const TIMEOUTS = { connect: 5_000, response: 15_000 }

/**
 * In milliseconds, below the store's `timeout`, so that no statement outlives its request.
 * `connectionTimeoutMillis` includes the wait for a free connection during a burst. PgBouncer
 * rejects `statement_timeout`; `?statement_timeout=` in the URL removes it.
 */
const POOL_TIMEOUTS = { connectionTimeoutMillis: 8_000, statement_timeout: 8_000, query_timeout: 9_000 }

interface Events {
  on(event: 'error', listener: (error: Error) => void): unknown
}

type Pool = PostgresClient & Events & { end(): Promise<void> }
type Pg = { Pool: new (options: object) => Pool }

/** Connects, and creates or updates the tables. */
export async function openPostgres(url: string): Promise<OpenedBackEnd> {
  const { pool, ...backEnd } = await connectPostgres(url)
  return backEnd
}

/** Gives a copy access to the tables. */
export async function openPostgresTables(url: string, flag: string): Promise<OpenedTables> {
  const { pool, name, close } = await connectPostgres(url, flag)
  return { ...postgresTables(pool), name, close }
}

async function connectPostgres(url: string, flag = '--database-url') {
  const name = `PostgreSQL at ${hostAndPathOf(url, flag, /^postgres(?:ql)?:$/, 'postgres://user@host:5432/name')}`
  const advice = `${flag} needs the driver pg: npm install pg`
  const module = await loadDriver<Pg & { default?: Pg }>(['pg'], advice)
  const { Pool } = module.default ?? module
  const pool = new Pool({ connectionString: url, ...POOL_TIMEOUTS })
  printErrorsOf(name, pool, passwordsOf(url))
  const close = () => pool.end()
  return closeOnFailure(close, async () => {
    const onError = (error: unknown) => printError(`${name}: ${innermostMessage(error)}`, passwordsOf(url))
    const { migrate, ...backEnd } = postgres(pool, { onError })
    await using(name, () => migrate().catch(explainConnection))
    return { ...backEnd, pool, name, close }
  })
}

/** Advice about `--database-url`, for errors of the first connection. */
const ADVICE = [
  {
    message: /startup parameter: statement_timeout/,
    advice:
      'PgBouncer rejects the parameter statement_timeout: end --database-url with ?statement_timeout= (an empty value is not sent), and set the timeout by ALTER ROLE … SET statement_timeout',
  },
  {
    message: /^(?:unable to (?:verify|get) .*certificate|self-signed certificate)/,
    advice:
      'for a private certificate authority, end --database-url with ?sslmode=verify-full&sslrootcert=, followed by the file with its certificate',
  },
  {
    message: /no encryption$/,
    advice: 'if the server accepts only encrypted connections, end --database-url with ?sslmode=verify-full',
  },
] as const

function explainConnection(error: unknown): never {
  const text = innermostMessage(error)
  const known = ADVICE.find(({ message }) => message.test(text))
  if (known === undefined) throw error
  throw new Error(`${text}: ${known.advice}`)
}

type IoRedis = Events & { connect(): Promise<unknown>; disconnect(): void } & RedisClient
type NodeRedis = Events & { connect(): Promise<unknown>; destroy(): void } & RedisClient
type RedisDriver =
  | { Redis: new (url: string, options: object) => IoRedis }
  | { createClient(options: object): NodeRedis; Redis?: undefined }

export async function openRedis(url: string): Promise<Pick<OpenedBackEnd, 'quota' | 'name' | 'close'>> {
  const name = `Redis at ${hostAndPathOf(url, '--redis-url', /^rediss?:$/, 'redis://host:6379')}`
  const advice = '--redis-url needs the driver ioredis or redis: npm install ioredis'
  const driver = await loadDriver<RedisDriver>(['ioredis', 'redis'], advice)
  const client = await using(name, () =>
    driver.Redis
      ? new driver.Redis(url, ioRedisOptions(TIMEOUTS))
      : driver.createClient(nodeRedisOptions(url, TIMEOUTS)),
  )
  const close = async () => ('destroy' in client ? client.destroy() : client.disconnect())
  const failed = new Promise<never>((_resolve, reject) => client.on('error', reject))
  return closeOnFailure(close, async () => {
    await using(name, () => Promise.race([client.connect(), failed]))
    printErrorsOf(name, client, passwordsOf(url))
    const { quota } = redis(client)
    // The first call finds out whether Redis permits the commands, and whether it is a cluster.
    // Otherwise, only some requests would fail, later.
    await using(name, async () => quota.spend(START_PROBE)).catch(explainRedis)
    return { quota, name, close }
  })
}

function explainRedis(error: unknown): never {
  if (!isPetStoreError(error) || error.code !== 'invalid_option') throw error
  if (!isMoved(error.cause)) throw new Error(error.message.replace('option client', '--redis-url'))
  throw new Error(
    '--redis-url: this Redis is a node of a cluster, and petstore has no client of a whole cluster: count in the database, or mount the store in your own program with new Cluster([{ host, port }]) of ioredis',
  )
}

const START_PROBE = {
  subject: 'petstore:start',
  anonymous: true,
  limits: { perMinute: 1_000_000, perDay: 1_000_000_000 },
  ban: false,
  now: 0,
} as const

/** Does not repeat the last message, because drivers report each failed attempt to reconnect. */
function printErrorsOf(name: string, client: Events, secrets: readonly string[]): void {
  let last: string | undefined
  client.on('error', ({ message }) => {
    if (message !== last) printError(`${name}: ${message}`, secrets)
    last = message
  })
}

/**
 * Returns only the host and the path, because the other parts of the URL may contain a password.
 */
function hostAndPathOf(url: string, flag: string, protocol: RegExp, example: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed === undefined || !protocol.test(parsed.protocol))
    throw new Error(`${flag}: expected a URL such as ${example}`)
  // In `user:12/34@host`, the host ends at the "/", and "12" would be shown as the port. "?" and
  // "#" do the same.
  if (`${parsed.pathname}${parsed.search}${parsed.hash}`.includes('@'))
    throw new Error(`${flag}: write "/", "?" and "#" in a user name or password as %2F, %3F and %23`)
  return `${parsed.host}${parsed.pathname === '/' ? '' : parsed.pathname}`
}

/**
 * While Redis is unreachable, commands fail without waiting, and clients get 503. Commands are not
 * retried: if only the reply was lost, the request has already been counted. After a failover, the
 * client reconnects, because the old primary may keep its connections and reject writes.
 */
export function ioRedisOptions({ connect, response }: typeof TIMEOUTS) {
  return {
    lazyConnect: true,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: connect,
    socketTimeout: response,
    retryStrategy: (attempts: number) => Math.min(attempts * 50, 500),
    reconnectOnError: ({ message }: Error) => message.includes('READONLY'),
  }
}

/** Without a `reconnectStrategy`, node-redis does not reconnect after a `socketTimeout`. */
export function nodeRedisOptions(url: string, { connect, response }: typeof TIMEOUTS) {
  const reconnectStrategy = (attempts: number) => Math.min(2 ** attempts * 50, 2_000)
  const socket = { connectTimeout: connect, socketTimeout: response, reconnectStrategy }
  return { url, disableOfflineQueue: true, pingInterval: response / 3, socket }
}

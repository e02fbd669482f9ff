// npm install petstore-kit pg ioredis prom-client
// DATABASE_URL=postgres://… REDIS_URL=redis://… node examples/production/server.mjs
// Without REDIS_URL, PostgreSQL counts the requests too.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Redis } from 'ioredis'
import { createPetStore } from 'petstore-kit'
import { serve } from 'petstore-kit/node'
import { postgres } from 'petstore-kit/postgres'
import { redis } from 'petstore-kit/redis'
import { Pool } from 'pg'
import { Counter, collectDefaultMetrics, Histogram, register } from 'prom-client'

const { env } = process

// Logs: one JSON object in each line. The query is left out, because clients put tokens there by mistake.
const log = (level, entry) => console.log(JSON.stringify({ time: new Date(), level, ...entry }))
const pathOf = (target) => target?.split('?', 1)[0].slice(0, 200)
const causeOf = (error) => (error?.cause ? causeOf(error.cause) : String(error?.message || error?.code || error))
process.on('uncaughtException', (error) => {
  log('fatal', { error: causeOf(error), stack: error?.stack })
  process.exit(1) // the service manager starts a new process
})

// Metrics: on a port of their own, which the load balancer does not publish.
collectDefaultMetrics()
const durations = new Histogram({
  name: 'petstore_request_duration_seconds',
  help: 'Duration of requests to the pet store, by operation, plan, status and error code.',
  labelNames: ['operation', 'plan', 'status', 'code'],
})
const faults = new Counter({ name: 'petstore_faults_total', help: 'Faults of the pet store and its engines.' })
const fail = (error, entry) => {
  const isNotice = error?.code === 'untrusted_forwarded_for' // about a setting, not a fault
  if (!isNotice) faults.inc()
  log(isNotice ? 'warn' : 'error', { error: causeOf(error), ...entry })
}
const metrics = createServer(async (_request, response) => {
  response.setHeader('Content-Type', register.contentType)
  response.end(await register.metrics())
})
metrics.listen(Number(env.METRICS_PORT ?? 9464), env.HOST ?? '127.0.0.1')
await once(metrics, 'listening')

// Engines: each waits for less than the store's `timeout`. If an engine cannot be reached at the start, the process ends.
const pool = new Pool({
  connectionString: env.DATABASE_URL,
  connectionTimeoutMillis: 8_000,
  statement_timeout: 8_000,
  query_timeout: 9_000,
})
pool.on('error', (error) => fail(error, { engine: 'PostgreSQL' }))
const { migrate, ...backEnd } = postgres(pool, { onError: (error) => fail(error, { engine: 'PostgreSQL' }) })
const redisOptions = {
  lazyConnect: true,
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  retryStrategy: (attempt) => Math.min(attempt * 50, 500),
  reconnectOnError: ({ message }) => message.includes('READONLY'),
  socketTimeout: 15_000,
}
const client = env.REDIS_URL ? new Redis(env.REDIS_URL, redisOptions) : undefined
client?.on('error', (error) => fail(error, { engine: 'Redis' }))
await Promise.all([migrate(), client?.connect()])

const petStore = createPetStore({
  ...backEnd,
  ...(client && redis(client)),
  publicUrl: env.PUBLIC_URL,
  requestId: true, // in X-Request-Id of each response, and in both logs
  onResponse({ target, ...report }) {
    const { operation = 'none', plan = 'none', status, code = 'none', durationMs } = report
    durations.observe({ operation, plan, status, code }, durationMs / 1_000)
    log('info', { path: pathOf(target), ...report })
  },
  onError: (error, { target, ...report }) => fail(error, { path: pathOf(target), ...report, stack: error?.stack }),
})
const server = await serve(petStore, {
  port: Number(env.PORT ?? 3000),
  host: env.HOST,
  trustProxy: env.TRUST_PROXY?.split(','), // the addresses of the load balancers
  drainDelay: Number(env.DRAIN_DELAY ?? 5_000), // longer than the load balancer needs to see that /ready fails
})
log('info', { message: 'serving', url: server.url, metrics: `http://127.0.0.1:${metrics.address().port}/metrics` })

// Shutdown: first finish the requests, then close the engines.
const stop = async (signal) => {
  // Under npm and bash, one Ctrl-C arrives twice. A second signal after a second ends the process at once.
  process.off('SIGINT', stop).off('SIGTERM', stop).on('SIGINT', ignore).on('SIGTERM', ignore)
  setTimeout(() => process.off('SIGINT', ignore).off('SIGTERM', ignore), 1_000).unref()
  log('info', { message: 'closing', signal })
  await server.close()
  setTimeout(() => process.exit(), 2_000).unref() // an engine that hangs never closes its connections
  metrics.close()
  metrics.closeAllConnections()
  client?.disconnect()
  await pool.end()
  log('info', { message: 'closed' })
}
const ignore = () => {}
process.on('SIGINT', stop).on('SIGTERM', stop)

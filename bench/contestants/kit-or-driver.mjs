import { createServer } from 'node:http'
import { created, importKit, LIMITS, ready } from './fixtures.mjs'

const isDriver = process.argv[2] === 'driver'

/**
 * Serves a pet store. If the program's first argument is `driver`, serves the bare driver with the same statements and headers.
 * Calls `cleanUp` on SIGINT and SIGTERM. For a message `{ concurrency, duration }`, adds animals without HTTP for this many
 * milliseconds, and replies with the animals per second.
 */
export async function serveKitOrDriver({ petStore, tokens, storage, driver, cleanUp }) {
  const { toNodeHandler } = await importKit('node')
  const server = createServer(isDriver ? driverHandler(driver) : toNodeHandler(petStore))
  for (const signal of ['SIGINT', 'SIGTERM']) {
    process.once(signal, async () => {
      await cleanUp()
      process.exit()
    })
  }
  const given = { ...created, categoryId: BigInt(created.categoryId) }
  const add = isDriver ? () => driver.create(created) : () => storage.create(given, {})
  server.listen(0, '127.0.0.1', () => ready(server.address().port, tokens, (message) => rateOf(add, message)))
}

async function rateOf(add, { concurrency, duration }) {
  const startedAt = performance.now()
  let count = 0
  const client = async () => {
    for (; performance.now() < startedAt + duration; count++) await add()
  }
  await Promise.all(Array.from({ length: concurrency }, client))
  return (count * 1_000) / (performance.now() - startedAt)
}

function driverHandler({ list, create }) {
  return async (req, res) => {
    if (req.method === 'GET') return write(res, 200, await list())
    const chunks = []
    for await (const chunk of req) chunks.push(chunk)
    write(res, 201, await create(JSON.parse(Buffer.concat(chunks).toString())))
  }
}

function write(res, status, value) {
  const body = JSON.stringify(value)
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-RateLimit-Limit': LIMITS.perMinute,
    'X-RateLimit-Remaining': 999_999_999,
    'X-RateLimit-Reset': 1_795_251_060,
    'Content-Length': Buffer.byteLength(body),
  })
  res.end(body)
}

import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { postgres } from '../../adapters/back-ends/postgres/index.ts'
import { openPool } from './postgres-back-end.ts'
import { startPostgres } from './postgres-server.ts'
import { freePort, type ServerProcess, startProcess } from './server-process.ts'
import { until } from './until.ts'

const RESTARTS = 4
const CLIENTS = 8
const COMMAND = join(import.meta.dirname, '../../dist/cli.js')

/** Two servers behind a balancer, which restart in turn. */
export interface RollingRestart {
  /** Starts the balancer before the first restart. Returns its URL and, if it knows, when a server that has started gets requests. */
  startBalancer(ports: readonly [number, number]): Promise<{ url: string; serves?(port: number): Promise<void> }>
  /** Starts a server, and waits until it serves. */
  startServer(port: number, databaseUrl: string): Promise<ServerProcess>
}

/** Returns a function that starts `petstore serve`. The balancer must see within `drainDelay` seconds that a server is closing. */
export function petstoreServe(drainDelay: number): RollingRestart['startServer'] {
  return (port, databaseUrl) => {
    const flags = ['--port', String(port), '--database-url', databaseUrl, '--drain-delay', String(drainDelay)]
    return startProcess(process.execPath, [COMMAND, 'serve', ...flags], /Ctrl-C/)
  }
}

/**
 * Restarts two servers on PostgreSQL in turn, four times, while clients add and list animals through a balancer. Returns the failed
 * requests, and the animals that clients have added and the database has.
 */
export async function restartInTurn({ startBalancer, startServer }: RollingRestart) {
  const engine = await startPostgres()
  onTestFinished(() => engine.remove())
  const pool = openPool(engine.url)
  onTestFinished(() => pool.end())
  const backEnd = postgres(pool)
  await backEnd.migrate()
  const limits = { perMinute: 1_000_000, perDay: 100_000_000 }
  const { token } = await backEnd.keyStore.issue({ plan: 'enterprise', limits })

  const ports = [await freePort(), await freePort()] as const
  const start = async (port: number) => {
    const server = await startServer(port, engine.url)
    onTestFinished(() => server.stop('SIGKILL'))
    return server
  }
  const servers = [await start(ports[0]), await start(ports[1])]
  const balancer = await startBalancer(ports)
  const load = startLoad(balancer.url, token)
  onTestFinished(load.stop)
  for (let restart = 0; restart < RESTARTS; restart++) {
    const index = restart % 2
    const port = ports[index] as number
    await servers[index]?.stop('SIGTERM')
    servers[index] = await start(port)
    await isReady(port)
    await (balancer.serves?.(port) ?? load.sends(100))
  }
  await load.stop()

  const { rows } = await pool.query<{ name: string }>('SELECT name FROM petstore.pets')
  return { failed: load.failed, added: load.added.toSorted(), stored: rows.map(({ name }) => name).toSorted() }
}

/** Waits until a server responds to `/ready` with 200, as the script of `docs/operating.md` does. */
export function isReady(port: number): Promise<void> {
  return until(async () => (await fetch(`http://127.0.0.1:${port}/ready`)).ok)
}

/** Starts clients that add and list animals, one request after another. */
function startLoad(url: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const added: string[] = []
  const failed: string[] = []
  let sent = 0
  let isOver = false
  const send = async (init: RequestInit, expected: number) => {
    sent++
    const failure = await fetch(`${url}/v1/pets`, { headers, ...init }).then(
      async (response) => (response.status === expected ? response.text().then(() => '') : `${response.status}`),
      (error) => String(error),
    )
    if (failure !== '') failed.push(failure)
    return failure === ''
  }
  const client = async (number: number) => {
    for (let i = 0; !isOver; i++) {
      const name = `Pet ${number}.${i}`
      if (await send({ method: 'POST', body: JSON.stringify({ name, categoryId: 1 }) }, 201)) added.push(name)
      await send({}, 200)
    }
  }
  const ended = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
  return {
    added,
    failed,
    /** Waits until this number of further requests has been sent. */
    sends(count: number) {
      const goal = sent + count
      return until(async () => sent >= goal)
    },
    async stop() {
      isOver = true
      await ended
    },
  }
}

import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { postgres } from '../../../adapters/back-ends/postgres/index.ts'
import { startBalancer } from '../../support/balancer.ts'
import { openPool } from '../../support/postgres-back-end.ts'
import { postgresPrograms, startPostgres } from '../../support/postgres-server.ts'
import { freePort, startProcess } from '../../support/server-process.ts'
import { missing } from '../../support/skips.ts'

const RESTARTS = 4
/** Seconds in which the balancer must see that a server is closing: also on a busy machine. */
const DRAIN_DELAY = '10'
const CLIENTS = 8
const COMMAND = join(import.meta.dirname, '../../../dist/cli.js')

/** Starts clients that add and list animals, one request after another. */
function startLoad(url: string, token: string) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const added: string[] = []
  const failed: string[] = []
  let isOver = false
  const send = async (init: RequestInit, expected: number) => {
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
  const stop = async () => {
    isOver = true
    await ended
  }
  return { added, failed, stop }
}

test.skipIf(missing('PostgreSQL', (await postgresPrograms()) !== undefined))(
  'two servers restart in turn four times without a lost request or animal',
  async () => {
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
      const flags = ['--port', String(port), '--database-url', engine.url, '--drain-delay', DRAIN_DELAY]
      const server = await startProcess(process.execPath, [COMMAND, 'serve', ...flags], /Ctrl-C/)
      onTestFinished(() => server.stop('SIGKILL'))
      return server
    }
    const servers = [await start(ports[0]), await start(ports[1])]
    const balancer = await startBalancer(ports)
    onTestFinished(() => balancer.close())
    for (const port of ports) await balancer.isReady(port)
    const load = startLoad(balancer.url, token)
    onTestFinished(load.stop)
    for (let restart = 0; restart < RESTARTS; restart++) {
      const index = restart % 2
      const port = ports[index] as number
      await servers[index]?.stop('SIGTERM')
      servers[index] = await start(port)
      await balancer.serves(port)
    }
    await load.stop()

    expect(balancer.lost).toEqual([])
    expect(load.failed).toEqual([])
    const { rows } = await pool.query<{ name: string }>('SELECT name FROM petstore.pets')
    expect(rows.map(({ name }) => name).toSorted()).toEqual(load.added.toSorted())
  },
)

import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from './until.ts'

/** A load balancer. It passes each request once to a server that is ready, over connections that it keeps open. */
export interface Balancer {
  readonly url: string
  /** The errors of requests that a server has not answered. */
  readonly lost: readonly string[]
  /** Waits until the server on this port is ready. */
  isReady(port: number): Promise<void>
  /** Waits until the server on this port has answered 100 more requests. */
  serves(port: number): Promise<void>
  close(): Promise<void>
}

/** Time between two polls of `/ready`, in milliseconds. */
const PAUSE = 50

/** Starts a load balancer that polls `/ready` of servers on this machine. */
export async function startBalancer(ports: readonly number[]): Promise<Balancer> {
  const agent = new Agent({ keepAlive: true })
  const ready = new Set<number>()
  const served = new Map<number, number>()
  const lost: string[] = []
  let turn = 0
  let isOver = false

  const poll = async (port: number) => {
    while (!isOver) {
      const response = await fetch(`http://127.0.0.1:${port}/ready`, { method: 'HEAD' }).catch(() => undefined)
      if (response?.ok) ready.add(port)
      else ready.delete(port)
      await sleep(PAUSE)
    }
  }

  const pass = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const port = [...ready][turn++ % ready.size]
    const { method, url: path, headers } = incoming
    const fail = (error: unknown) => {
      lost.push(`${method} ${path} to ${port}: ${error}`)
      if (outgoing.headersSent) outgoing.destroy()
      else outgoing.writeHead(502).end()
    }
    if (port === undefined) return fail('no server is ready')
    const passed = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      const { connection: _connection, ...others } = response.headers
      outgoing.writeHead(response.statusCode ?? 0, others)
      response.on('error', fail).pipe(outgoing)
      served.set(port, (served.get(port) ?? 0) + 1)
    })
    incoming.pipe(passed.on('error', fail))
  }

  const server = createServer(pass).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const polls = ports.map(poll)
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    lost,
    isReady: (port) => until(async () => ready.has(port)),
    serves(port) {
      const goal = (served.get(port) ?? 0) + 100
      return until(async () => (served.get(port) ?? 0) >= goal)
    },
    async close() {
      isOver = true
      server.close()
      server.closeAllConnections()
      agent.destroy()
      await Promise.all(polls)
    },
  }
}

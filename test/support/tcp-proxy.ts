import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A proxy between a client and an engine that simulates faults of a network. */
export interface TcpProxy {
  readonly port: number
  /** Drops the next reply and closes its connection. */
  cutOnReply(): void
  /** Stops all data in both directions, and keeps the connections open. */
  freeze(): void
  close(): void
}

/** Starts a proxy of a port. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  const sockets = new Set<Socket>()
  let isCutting = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  }
  const server = createServer((client) => {
    const engine = connect(target, '127.0.0.1')
    for (const [one, other] of [
      [client, engine],
      [engine, client],
    ] as const) {
      keep(one)
      one.on('close', () => other.destroy())
    }
    client.on('data', (chunk) => engine.write(chunk))
    engine.on('data', (chunk) => {
      if (!isCutting) client.write(chunk)
      else client.destroy()
      isCutting = false
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    cutOnReply() {
      isCutting = true
    },
    freeze() {
      for (const socket of sockets) socket.pause()
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A TCP proxy between a client and a database server. The proxy simulates network faults. */
export interface TcpProxy {
  readonly port: number
  /** Drops the next reply of the server and closes the connection. */
  cutOnReply(): void
  /** Stops forwarding in both directions, but keeps the connections open. */
  freeze(): void
  /** Forwards new connections to another port. */
  redirect(port: number): void
  close(): void
}

/** Starts a proxy that forwards to a port on this machine. */
export async function startTcpProxy(target: number): Promise<TcpProxy> {
  let port = target
  const sockets = new Set<Socket>()
  let isCutting = false
  const keep = (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    socket.on('error', () => {})
  }
  const server = createServer((client) => {
    const engine = connect(port, '127.0.0.1')
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
    redirect(to) {
      port = to
    },
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

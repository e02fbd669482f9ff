import type { Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { sleep } from '../../../src/support/time.ts'
import { isAfterLastRequest, setLastRequest } from './pipelining.ts'

export type Connections = ReturnType<typeof trackConnections>

/** Tracks the connections of a server. After the first call of `close`, each connection closes after its next response. */
export function trackConnections(
  server: Server,
  { drainDelay = 0, closeTimeout = 10_000 }: { drainDelay?: number | undefined; closeTimeout?: number | undefined },
) {
  /** For each open connection, its latest response and all earlier responses that are not yet closed. */
  const running = new Map<Socket, ServerResponse[]>()
  let closed: Promise<void> | undefined
  server.on('connection', (socket: Socket) => {
    running.set(socket, [])
    socket.on('close', () => running.delete(socket))
  })
  const endWith = (outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false
    setLastRequest(outgoing.req)
  }
  const close = async () => {
    for (const responses of running.values()) {
      const last = responses.at(-1)
      // Sent headers cannot be changed: they say that the connection stays open, so the client may send one more request.
      if (last?.headersSent === false) endWith(last)
    }
    if (drainDelay > 0) await sleep(drainDelay)
    const timer = setTimeout(() => server.closeAllConnections(), closeTimeout)
    await closeGently(server, running)
    clearTimeout(timer)
  }
  return {
    close() {
      closed ??= close()
      return closed
    },
    isClosing: () => closed !== undefined,
    responsesOn: (socket: Socket): readonly ServerResponse[] => running.get(socket) ?? [],
    /**
     * Call this for each request. It also removes closed responses. A `close` listener for each response and a `WeakMap` could do
     * that too, but they would add 7 % to the time of a request for a list.
     */
    track(outgoing: ServerResponse): void {
      const responses = running.get(outgoing.req.socket) ?? []
      // A connection closes its responses in order, so the closed ones are in front.
      while (responses[0]?.destroyed) responses.shift()
      responses.push(outgoing)
      if (closed && !isAfterLastRequest(outgoing.req)) endWith(outgoing)
    },
  }
}

/** Waits until written responses are sent. `server.close` alone would cut them off: it treats their connections as idle. */
async function closeGently(server: Server, running: Map<Socket, ServerResponse[]>): Promise<void> {
  const closed = new Promise((resolve) => NetServer.prototype.close.call(server, resolve))
  let unsent: ServerResponse[]
  // Repeats the wait, because other responses may be written during it.
  do {
    // Waits until Node has read all arrived data. One turn is not enough: Node may already have done the reads of this turn.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
    unsent = [...running.values()].flat().filter((one) => one.writableEnded && !one.destroyed)
    await Promise.all(unsent.map((one) => new Promise((resolve) => one.on('close', resolve))))
  } while (unsent.length > 0)
  // Closes idle connections, and stops Node's interval that checks connections. The interval would keep the server in memory.
  server.close()
  // Closes connections that have sent nothing yet. Browsers open them in advance, and Node does not treat them as idle.
  for (const socket of running.keys()) if (socket.bytesRead === 0) socket.destroy()
  await closed
}

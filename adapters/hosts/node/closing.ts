import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { isAfterLastRequest, setLastRequest } from './pipelining.ts'

/** The events for requests. With an `Expect` header, Node emits `checkContinue`, or `checkExpectation` for an unknown value. */
export const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation']

/** The unsent responses of each open connection. */
export type Running = ReadonlyMap<Socket, ReadonlySet<ServerResponse>>

/** Tracks unsent responses. A closed connection is removed as a whole: Node emits `close` only for one of its responses. */
export function runningResponses(server: Server): Running {
  const running = new Map<Socket, Set<ServerResponse>>()
  server.on('connection', (socket: Socket) => {
    running.set(socket, new Set())
    socket.on('close', () => running.delete(socket))
  })
  const watch = ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    const responses = running.get(socket)
    responses?.add(outgoing)
    outgoing.on('close', () => responses?.delete(outgoing))
  }
  for (const event of REQUEST_EVENTS) server.on(event, watch)
  return running
}

/** Returns a function that closes the server. Each connection then ends after its last response. */
export function closer(server: Server, running: Running, closeTimeout: number): () => Promise<void> {
  let closed: Promise<void> | undefined
  const endWith = (outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false
    setLastRequest(outgoing.req)
  }
  const endConnection = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!isAfterLastRequest(incoming)) endWith(outgoing)
  }
  const close = () =>
    new Promise<void>((resolve) => {
      for (const event of REQUEST_EVENTS) server.prependListener(event, endConnection)
      const timer = setTimeout(() => destroyAll(running.keys()), closeTimeout)
      const onClose = () => {
        clearTimeout(timer)
        resolve()
      }
      for (const responses of running.values()) {
        const last = [...responses].at(-1)
        if (last !== undefined) endWith(last)
      }
      void closeGently(server, running, onClose)
      // Closes connections without a request, which browsers open in advance. Node does not treat them as idle.
      destroyAll([...running.keys()].filter((socket) => socket.bytesRead === 0))
    })
  return () => {
    closed ??= close()
    return closed
  }
}

function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}

/** Closes a server after written responses are sent. `server.close` would cut them off: Node calls their connections idle. */
async function closeGently(server: Server, running: Running, onClose: () => void): Promise<void> {
  const unsent = () => [...running.values()].flatMap(lastWritten)
  if (unsent().length === 0) server.close(onClose)
  else NetServer.prototype.close.call(server, onClose)
  // Repeats the wait, because other responses may be written meanwhile.
  for (let waiting = unsent(); waiting.length > 0; waiting = unsent()) await Promise.all(waiting.map(gone))
  // Closes idle connections, and stops Node's interval that checks connections. The interval would keep the server in memory.
  server.close()
}

/** Returns the last written response of a connection, if any. The earlier responses are sent before it. */
function lastWritten(responses: ReadonlySet<ServerResponse>): ServerResponse[] {
  return [...responses].filter((one) => one.writableEnded).slice(-1)
}

function gone(response: ServerResponse): Promise<void> {
  const { socket } = response.req
  return new Promise((resolve) => {
    const end = () => {
      socket.off('close', end)
      resolve()
    }
    response.on('close', end)
    socket.on('close', end)
  })
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { isAfterLastRequest, setLastRequest } from './pipelining.ts'

/** Node emits another event for a request with an `Expect` header: "100 Continue", or an unknown expectation, which is ignored. */
export const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation']

/** The responses of each connection that have not been sent. */
export type Running = ReadonlyMap<Socket, ReadonlySet<ServerResponse>>

/** Tracks a server's responses. When a connection breaks, Node closes only the response that was being written. */
export function runningResponses(server: Server): Running {
  const running = new Map<Socket, Set<ServerResponse>>()
  const opened = (socket: Socket) => {
    const responses = new Set<ServerResponse>()
    running.set(socket, responses)
    socket.on('close', () => running.delete(socket))
    return responses
  }
  const watch = ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    const responses = running.get(socket) ?? opened(socket)
    responses.add(outgoing)
    outgoing.on('close', () => responses.delete(outgoing))
  }
  for (const event of REQUEST_EVENTS) server.on(event, watch)
  return running
}

/** Returns the function that closes a server. The last response of each connection then ends the connection. */
export function closer(server: Server, running: Running, closeTimeout: number): () => Promise<void> {
  const sockets = new Set<Socket>()
  let closed: Promise<void> | undefined
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const endWith = (outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false
    setLastRequest(outgoing.req)
  }
  const endConnection = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (closed !== undefined && !isAfterLastRequest(incoming)) endWith(outgoing)
  }
  for (const event of REQUEST_EVENTS) server.on(event, endConnection)
  const close = () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(() => destroyAll(sockets), closeTimeout)
      const onClose = () => {
        clearTimeout(timer)
        resolve()
      }
      for (const responses of running.values()) {
        const last = [...responses].at(-1)
        if (last !== undefined) endWith(last)
      }
      void closeGently(server, running, onClose)
      // Node does not count a connection without a request as idle. Browsers open such connections in advance.
      destroyAll([...sockets].filter((socket) => socket.bytesRead === 0))
    })
  return () => {
    closed ??= close()
    return closed
  }
}

function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}

/** Node counts a connection as idle if its response is written but not yet sent, and would cut it off. */
async function closeGently(server: Server, running: Running, onClose: () => void): Promise<void> {
  const unsent = () => [...running.values()].flatMap(lastWritten)
  if (unsent().length === 0) server.close(onClose)
  else NetServer.prototype.close.call(server, onClose)
  // Other responses may be written meanwhile.
  for (let waiting = unsent(); waiting.length > 0; waiting = unsent()) await Promise.all(waiting.map(gone))
  // Closes idle connections, and stops the interval that checks connections. It would keep the server in memory.
  server.close()
}

/** Responses are sent in order, so the last one of each connection is enough to wait for. */
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

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { sleep } from '../../../src/support/time.ts'
import { isAfterLastRequest, setLastRequest } from './pipelining.ts'

/** For a request with an `Expect` header, Node emits `checkContinue` or `checkExpectation` in place of `request`. */
export const REQUEST_EVENTS = ['request', 'checkContinue', 'checkExpectation']

/** For each open connection, its latest response and all earlier responses that are not yet closed. */
export type Running = ReadonlyMap<Socket, readonly ServerResponse[]>

/**
 * Tracks the responses of each connection. Closed responses are removed at the next request: a `close` listener for each response
 * and a `WeakMap` would cost 7 % of a request for a list.
 */
export function runningResponses(server: Server): Running {
  const running = new Map<Socket, ServerResponse[]>()
  server.on('connection', (socket: Socket) => {
    running.set(socket, [])
    socket.on('close', () => running.delete(socket))
  })
  const watch = ({ socket }: IncomingMessage, outgoing: ServerResponse) => {
    const responses = running.get(socket) ?? []
    // A connection closes its responses in order, so the closed ones are in front.
    while (responses[0]?.destroyed) responses.shift()
    responses.push(outgoing)
  }
  for (const event of REQUEST_EVENTS) server.on(event, watch)
  return running
}

export const isOpen = (response: ServerResponse): boolean => !response.destroyed

/** After the first call of `close`, each connection closes after its next response. */
export function closer(
  server: Server,
  running: Running,
  { drainDelay = 0, closeTimeout = 10_000 }: { drainDelay?: number | undefined; closeTimeout?: number | undefined },
) {
  let closed: Promise<void> | undefined
  const endWith = (outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false
    setLastRequest(outgoing.req)
  }
  const endConnection = (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!isAfterLastRequest(incoming)) endWith(outgoing)
  }
  const close = async () => {
    for (const event of REQUEST_EVENTS) server.prependListener(event, endConnection)
    for (const responses of running.values()) {
      const last = responses.at(-1)
      // Sent headers cannot be changed: they say that the connection stays open, so the client may send one more request.
      if (last?.headersSent === false) endWith(last)
    }
    if (drainDelay > 0) await sleep(drainDelay)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => destroyAll(running.keys()), closeTimeout)
      void closeGently(server, running, () => {
        clearTimeout(timer)
        resolve()
      })
    })
  }
  return {
    close() {
      closed ??= close()
      return closed
    },
    isClosing: () => closed !== undefined,
  }
}

function destroyAll(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.destroy()
}

/** Waits until written responses are sent. `server.close` alone would cut them off: it treats their connections as idle. */
async function closeGently(server: Server, running: Running, onClose: () => void): Promise<void> {
  NetServer.prototype.close.call(server, onClose)
  await requestsRead()
  const unsent = () => [...running.values()].flatMap(lastWritten)
  // Other responses may be written during the wait.
  do {
    await Promise.all(unsent().map(gone))
    await requestsRead()
  } while (unsent().length > 0)
  // Closes idle connections, and stops Node's interval that checks connections. The interval would keep the server in memory.
  server.close()
  // Closes connections without a request, which browsers open in advance. Node does not treat them as idle.
  destroyAll([...running.keys()].filter((socket) => socket.bytesRead === 0))
}

/** Waits until Node has read the data that has arrived: two turns, because in this turn, Node may be past reading. */
async function requestsRead(): Promise<void> {
  for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Returns a list with the last written response of a connection, or an empty list. Node sends the earlier responses before it. */
function lastWritten(responses: readonly ServerResponse[]): ServerResponse[] {
  return responses.filter((one) => isOpen(one) && one.writableEnded).slice(-1)
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

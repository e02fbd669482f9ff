import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** How many requests of a connection may wait for their turn. Clients that pipeline send a few. */
const MAX_WAITING = 1_000

const waiting = new WeakMap<Socket, number>()

/**
 * Returns whether to drop a request, because its connection is flooded with pipelined requests; the
 * connection is then closed. Node reads requests without limit while an earlier response is
 * missing, and gives a response its socket only when the earlier responses are sent.
 */
export function isFlooded({ socket }: IncomingMessage, outgoing: ServerResponse): boolean {
  if (outgoing.socket !== null || !socket) return false
  const count = (waiting.get(socket) ?? 0) + 1
  // Node still emits the requests that it has read before the connection was closed.
  if (socket.destroyed || count > MAX_WAITING) {
    socket.destroy()
    return true
  }
  waiting.set(socket, count)
  outgoing.on('close', () => waiting.set(socket, (waiting.get(socket) ?? 1) - 1))
  return false
}

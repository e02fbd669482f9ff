import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { NodeIncoming, NodeOutgoing } from './types.ts'

const lastRequests = new WeakMap<object, NodeIncoming>()

/**
 * Notes that the connection closes after the response to this request. Requests that the client has sent behind it get no
 * response and may be sent again, so they must not be processed (RFC 9112, section 9.6).
 */
export function setLastRequest(incoming: NodeIncoming): void {
  if (incoming.socket) lastRequests.set(incoming.socket, incoming)
}

/** Returns whether a request came behind one after whose response the connection closes. */
export function isAfterLastRequest(incoming: NodeIncoming): boolean {
  const { socket } = incoming
  const last = socket ? lastRequests.get(socket) : undefined
  return last !== undefined && last !== incoming
}

/** The requests of each connection that wait for earlier responses, as what ends their waiting. */
const waiting = new WeakMap<Socket, Set<(isConnected: boolean) => void>>()

/**
 * Resolves when all earlier responses of the connection have been sent: to `true`, or to `false` if the connection has
 * closed. Returns `undefined` if there are none.
 *
 * Node passes on pipelined requests at once. One that is processed early would not see what an earlier one adds (RFC 9112,
 * section 9.3.2).
 */
export function turnOf(outgoing: NodeOutgoing): Promise<boolean> | undefined {
  if (!(outgoing instanceof ServerResponse) || outgoing.socket) return undefined
  const { socket }: { readonly socket?: Socket } = outgoing.req
  // Mock requests may have no socket.
  if (!socket) return undefined
  if (socket.destroyed) return Promise.resolve(false)
  const others = waiting.get(socket) ?? watch(socket)
  socket.pause()
  return new Promise((resolve) => {
    const settle = (isConnected: boolean) => {
      others.delete(settle)
      if (others.size === 0) socket.resume()
      resolve(isConnected)
    }
    others.add(settle)
    outgoing.on('socket', () => settle(true))
  })
}

/**
 * Keeps a socket paused while requests wait. Node stops reading only when responses hold data, and waiting ones hold none:
 * a client that sends requests and reads no response would fill the memory. Node resumes the socket after each response.
 */
function watch(socket: Socket): Set<(isConnected: boolean) => void> {
  const settles = new Set<(isConnected: boolean) => void>()
  waiting.set(socket, settles)
  socket.on('resume', () => {
    if (settles.size > 0) socket.pause()
  })
  socket.on('close', () => {
    for (const settle of settles) settle(false)
  })
  return settles
}

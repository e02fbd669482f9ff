import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { NodeIncoming, NodeOutgoing } from './types.ts'

const lastRequests = new WeakMap<object, NodeIncoming>()

/**
 * Records that the connection closes after the response to this request. Later requests on the connection get no response.
 * Clients may send them again, so they must not be processed (RFC 9112, section 9.6).
 */
export function setLastRequest(incoming: NodeIncoming): void {
  if (incoming.socket) lastRequests.set(incoming.socket, incoming)
}

export function isAfterLastRequest(incoming: NodeIncoming): boolean {
  const { socket } = incoming
  const last = socket ? lastRequests.get(socket) : undefined
  return last !== undefined && last !== incoming
}

/** For each connection, the functions that let its waiting requests continue. */
const waiting = new WeakMap<Socket, Set<(isConnected: boolean) => void>>()

/**
 * Waits until the earlier responses of the connection have been sent. Resolves to false if the connection has closed. Returns
 * `undefined` if there is nothing to wait for. Node emits pipelined requests all at once; a request that is processed too early
 * would not find an animal that an earlier request creates (RFC 9112, section 9.3.2).
 */
export function waitForEarlierResponses(outgoing: NodeOutgoing): Promise<boolean> | undefined {
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
 * Keeps the socket paused while requests wait, although Node resumes it after each response. Otherwise, a client that sends
 * requests and reads no responses could fill the memory.
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

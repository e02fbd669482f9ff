import { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { NodeIncoming, NodeOutgoing } from './messages.ts'

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
const waiting = new WeakMap<Socket, Set<() => void>>()

/**
 * Waits until the earlier responses of the connection have been sent. Resolves to false if the connection has closed. Returns
 * `undefined` if there is nothing to wait for. Node emits pipelined requests all at once; a request that is processed too early
 * would not find an animal that an earlier request creates (RFC 9112, section 9.3.2).
 */
export function waitForEarlierResponses(outgoing: NodeOutgoing): Promise<boolean> | undefined {
  if (!(outgoing instanceof ServerResponse) || outgoing.socket) return undefined
  const { socket } = outgoing.req
  if (socket.destroyed) return Promise.resolve(false)
  const others = waiting.get(socket) ?? watch(socket)
  socket.pause()
  return new Promise((resolve) => {
    const settle = () => {
      others.delete(settle)
      if (others.size === 0) socket.resume()
      resolve(!socket.destroyed)
    }
    others.add(settle)
    outgoing.on('socket', settle)
  })
}

/**
 * Keeps the socket paused while requests wait, although Node resumes it after each response. Otherwise, a client that sends
 * requests and reads no responses could fill the memory.
 */
function watch(socket: Socket): Set<() => void> {
  const settles = new Set<() => void>()
  waiting.set(socket, settles)
  socket.on('resume', () => {
    if (settles.size > 0) socket.pause()
  })
  socket.on('close', () => {
    for (const settle of settles) settle()
  })
  return settles
}

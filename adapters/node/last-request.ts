import type { NodeIncoming } from './types.ts'

const lastRequests = new WeakMap<object, NodeIncoming>()

/**
 * Says that a connection closes with the answer to this request, and that no earlier one on it is still to come to its
 * handler. What a client has sent behind it must not be worked on, as it would get no answer and may be sent again
 * (RFC 9112, section 9.6).
 */
export function setLastRequest(incoming: NodeIncoming): void {
  if (incoming.socket) lastRequests.set(incoming.socket, incoming)
}

/** Whether a request came on a connection that closes with the answer to an earlier one. */
export function isAfterLastRequest(incoming: NodeIncoming): boolean {
  const last = incoming.socket ? lastRequests.get(incoming.socket) : undefined
  return last !== undefined && last !== incoming
}

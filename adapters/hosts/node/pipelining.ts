import type { NodeIncoming, NodeOutgoing } from './types.ts'

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
  const { socket } = incoming
  const last = socket ? lastRequests.get(socket) : undefined
  return last !== undefined && last !== incoming
}

/**
 * Resolves when the answers are sent that a client waits for ahead of this one on its connection; `undefined` where there are
 * none. Node hands over at once what was sent at once. What is worked on before its turn would not see what a request ahead
 * of it adds (RFC 9112, section 9.3.2), and its answer would wait in memory, with hundreds more, for a client to read.
 */
export function turnOf(incoming: NodeIncoming, outgoing: NodeOutgoing): Promise<void> | undefined {
  if (incoming.httpVersionMajor > 1 || outgoing.socket) return undefined
  const current = incoming.socket?._httpMessage
  // A host may answer its request through a response of its own making, which never has a turn.
  if (current == null || current.req === incoming) return undefined
  return new Promise((resolve) => outgoing.on('socket', () => resolve()))
}

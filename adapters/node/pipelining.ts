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

const creating = new WeakMap<object, Promise<unknown>>()

/**
 * What a client waits for ahead of this request on its connection, where that may add an animal: Node hands over at once
 * what was sent at once, but only what changes nothing may be done side by side (RFC 9112, section 9.3.2).
 */
export function creatingAhead({ socket }: NodeIncoming): Promise<unknown> | undefined {
  return socket ? creating.get(socket) : undefined
}

/** Lets what comes behind a request on its connection wait for it, where it may add an animal. */
export function holdBack({ method, socket, httpVersionMajor }: NodeIncoming, answer: Promise<unknown>): void {
  if (method !== 'POST' || !socket || httpVersionMajor > 1) return
  creating.set(socket, answer)
  const letGo = () => {
    if (creating.get(socket) === answer) creating.delete(socket)
  }
  answer.then(letGo, letGo)
}

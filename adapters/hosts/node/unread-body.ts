import { declaredLength, sentHeader } from './headers.ts'
import type { NodeRequest } from './request.ts'
import type { NodeIncoming, NodeOutgoing } from './types.ts'

/**
 * How much of an unwanted upload is read and thrown away, in bytes: a client that writes on without reading gets its answer
 * only when all that it has in hand is taken.
 */
const DRAINED_BYTES = 16_777_216
/** How long that may take, in milliseconds. */
const DRAIN_TIMEOUT = 2_000
/** Up to which declared length, in bytes, it may take as long as the host lets a request take. */
const SMALL_BODY = 1_048_576

/**
 * Whether the connection closes after the answer while more of the body may come: the client has asked for that, or the
 * rest is not worth waiting for.
 */
export function closesAmidBody(incoming: NodeIncoming, outgoing: NodeOutgoing, request: NodeRequest): boolean {
  return request.awaitsContinue || isLastByHead(incoming, outgoing) || declaredLength(incoming) > DRAINED_BYTES
}

/**
 * Whether a request with a body says that none follows it: it wants the connection closed, or another protocol. What comes
 * in one piece with the end of a body behind an Upgrade, such as the next request, Node loses.
 */
export function isLastByHead(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  return outgoing.shouldKeepAlive === false || sentHeader(incoming, 'upgrade') !== undefined
}

/** Whether a body has not wholly come. */
export function isUnreadBody(incoming: NodeIncoming): boolean {
  if (incoming.complete) return false
  return isChunked(incoming) || declaredLength(incoming) > 0
}

function isChunked(incoming: NodeIncoming): boolean {
  return sentHeader(incoming, 'transfer-encoding') !== undefined
}

/** A small body of known length: the rest of it is read however long that takes, and the connection stays. */
export function isSmallBody(incoming: NodeIncoming): boolean {
  return !isChunked(incoming) && declaredLength(incoming) <= SMALL_BODY
}

/**
 * Reads the rest of a body once the answer is out, and the connection stays: what is not small, no longer than is worth it.
 * Node does so itself where nobody has begun to read, without an end; Deno's likeness of it does not.
 */
export function readRest(incoming: NodeIncoming, outgoing: NodeOutgoing): void {
  const giveUp = () => {
    if (!incoming.complete) incoming.socket?.destroy?.()
  }
  outgoing.on('finish', () => (isSmallBody(incoming) ? incoming.resume() : drain(incoming, giveUp)))
}

/** Reads on until the body ends, or enough of it has come, or time is up; then does `finish`, once. */
export function drain(incoming: NodeIncoming, finish: () => void): void {
  let left = DRAINED_BYTES
  let isDone = false
  const stop = () => {
    clearTimeout(timer)
    if (isDone) return
    isDone = true
    finish()
  }
  const timer = setTimeout(stop, DRAIN_TIMEOUT)
  // On Workers a timer is a number.
  timer.unref?.()
  // It is text where the host has called `setEncoding`.
  incoming.on('data', (chunk: unknown) => {
    left -= (chunk as Uint8Array | string).length
    if (left < 0) stop()
  })
  incoming.on('end', stop)
  incoming.on('close', stop)
  incoming.resume()
}

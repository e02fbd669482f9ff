import { declaredLength, sentHeader } from './headers.ts'
import type { NodeIncoming, NodeOutgoing } from './types.ts'

/** How many bytes of a refused upload are read and discarded. A client may read the response only after its upload. */
const DRAINED_BYTES = 16_777_216
/** How many bytes each chunk of a refused upload counts for besides its own, because each chunk takes time. */
const CHUNK_COST = 256
/** How long the server waits for more bytes of a refused upload, in milliseconds. */
const DRAIN_TIMEOUT = 2_000
/** A body of at most this declared length, in bytes, is read to its end. Only the server's own time limits apply. */
const SMALL_BODY = 1_048_576

/** Returns whether the connection closes after the response, although more of the body may arrive. */
export function closesAmidBody(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  return (
    isContinueDue(incoming, outgoing) || isLastByHead(incoming, outgoing) || declaredLength(incoming) > DRAINED_BYTES
  )
}

/**
 * Returns whether this is the last request of its connection: the connection will close, or the client asks for an upgrade. After
 * an `Upgrade` header, Node loses data that arrives together with the end of the body.
 */
export function isLastByHead(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  return outgoing.shouldKeepAlive === false || sentHeader(incoming, 'upgrade') !== undefined
}

/**
 * Private members of Node's response to HTTP/1, checked with Node 20 to 26: no public member says whether Node has sent "100
 * Continue". If they are missing, a client that waits sends its body after its own time limit.
 */
interface PrivateFlags {
  readonly _expect_continue?: boolean
  readonly _sent100?: boolean
}

/**
 * Returns whether the client still waits for "100 Continue" before it sends the body (RFC 9110, section 10.1.1). If the host
 * listens to `checkContinue`, Node does not send it.
 */
export function isContinueDue(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  if (!(incoming.httpVersionMajor > 1)) {
    const { _expect_continue, _sent100 } = outgoing as NodeOutgoing & PrivateFlags
    return _expect_continue === true && _sent100 === false
  }
  const isSent = outgoing.stream?.sentInfoHeaders?.some((info) => info[':status'] === 100)
  return incoming.headers?.expect === '100-continue' && !isSent
}

/** Returns whether a request has a body, which has not arrived completely. Call it only if the request is not complete. */
export function isUnreadBody(incoming: NodeIncoming): boolean {
  return isChunked(incoming) || declaredLength(incoming) > 0
}

function isChunked(incoming: NodeIncoming): boolean {
  return sentHeader(incoming, 'transfer-encoding') !== undefined
}

/** Returns whether a body has a known, small length. Such a body is always read to its end, and the connection stays open. */
export function isSmallBody(incoming: NodeIncoming): boolean {
  return !isChunked(incoming) && declaredLength(incoming) <= SMALL_BODY
}

/** Reads the rest of a body after the response is sent, so that the connection can be reused. */
export function readRest(incoming: NodeIncoming, outgoing: NodeOutgoing): void {
  const giveUp = () => {
    if (!incoming.complete) incoming.socket?.destroy?.()
  }
  outgoing.on('finish', () => (isSmallBody(incoming) ? incoming.resume() : drain(incoming, giveUp)))
}

/** Discards the rest of a body until it ends, is too long, or nothing arrives for a while. Then calls `finish` once. */
export function drain(incoming: NodeIncoming, finish: () => void): void {
  let left = DRAINED_BYTES
  let isDone = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const stop = () => {
    clearTimeout(timer)
    if (isDone) return
    isDone = true
    finish()
  }
  const awaitData = () => {
    clearTimeout(timer)
    timer = setTimeout(stop, DRAIN_TIMEOUT)
    // On Workers, a timer is a number and has no `unref`.
    timer.unref?.()
  }
  awaitData()
  // A chunk is text if the host has called `setEncoding`.
  incoming.on('data', (chunk: unknown) => {
    left -= (chunk as Uint8Array | string).length + CHUNK_COST
    if (left < 0) stop()
    else if (!isDone) awaitData()
  })
  incoming.on('end', stop)
  incoming.on('close', stop)
  incoming.resume()
}

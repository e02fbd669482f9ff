import { declaredLength, sentHeader } from './headers.ts'
import { isHttp2, type NodeIncoming, type NodeOutgoing } from './messages.ts'

/** How many bytes of a rejected upload are read at most. Many clients send the whole body before they read the response. */
const DRAINED_BYTES = 16_777_216
/** The bytes counted for each chunk besides its length. Otherwise, `DRAINED_BYTES` would allow millions of tiny chunks. */
const CHUNK_COST = 256
/** How long the server waits for more bytes of a rejected upload, in milliseconds. */
const DRAIN_TIMEOUT = 2_000
/** A request body of at most this declared length, in bytes, is always read to its end. */
const SMALL_BODY = 1_048_576

export function closesAmidBody(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  const isTooLong = declaredLength(incoming) > DRAINED_BYTES
  return isTooLong || isContinueDue(incoming, outgoing) || isLastByHead(incoming, outgoing)
}

/**
 * Returns whether this is the last request of its connection. Each request with an `Upgrade` header is the last, because Node loses
 * data that arrives together with the end of the request body.
 */
export function isLastByHead(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  return outgoing.shouldKeepAlive === false || sentHeader(incoming, 'upgrade') !== undefined
}

/**
 * Private members of Node's response in HTTP/1, checked with Node 20 to 26. No public member says whether Node has sent "100
 * Continue". If Node removes them, a client that waits for "100 Continue" sends its body only after a time limit of its own.
 */
type PrivateFlags = Record<'_expect_continue' | '_sent100', unknown>

/**
 * Returns whether the client waits for "100 Continue" before it sends the body (RFC 9110, section 10.1.1). Node does not send "100
 * Continue" if the host listens to `checkContinue`.
 */
export function isContinueDue(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  if (!isHttp2(incoming)) {
    const { _expect_continue, _sent100 } = outgoing as NodeOutgoing & PrivateFlags
    return _expect_continue === true && _sent100 === false
  }
  const isSent = outgoing.stream?.sentInfoHeaders?.some((info) => info[':status'] === 100)
  return incoming.headers?.expect === '100-continue' && !isSent
}

/** Returns whether the request has a body of which a part has not been read. A mock request without `complete` has none. */
export function isUnreadBody(incoming: NodeIncoming): boolean {
  return incoming.complete === false && (isChunked(incoming) || declaredLength(incoming) > 0)
}

function isChunked(incoming: NodeIncoming): boolean {
  return sentHeader(incoming, 'transfer-encoding') !== undefined
}

export function isSmallBody(incoming: NodeIncoming): boolean {
  return !isChunked(incoming) && declaredLength(incoming) <= SMALL_BODY
}

/** Reads the rest of the request body after the response is sent. Only then can the client reuse the connection. */
export function readRest(incoming: NodeIncoming, outgoing: NodeOutgoing): void {
  outgoing.on('finish', async () => {
    if (isSmallBody(incoming)) return incoming.resume?.()
    await drain(incoming)
    if (!incoming.complete) incoming.socket?.destroy?.()
  })
}

/** Discards the request body until it ends, exceeds `DRAINED_BYTES`, or pauses for `DRAIN_TIMEOUT`. */
export function drain(incoming: NodeIncoming): Promise<void> {
  return new Promise((resolve) => {
    let discarded = 0
    const timer = setTimeout(resolve, DRAIN_TIMEOUT).unref()
    const stop = () => {
      clearTimeout(timer)
      resolve()
    }
    // A chunk is text if the host has called `setEncoding`.
    incoming.on('data', (chunk: unknown) => {
      discarded += (chunk as Uint8Array | string).length + CHUNK_COST
      if (discarded > DRAINED_BYTES) stop()
      else timer.refresh()
    })
    incoming.on('end', stop)
    incoming.on('close', stop)
    incoming.resume?.()
  })
}

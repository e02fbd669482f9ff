import { isContinueDue } from './body.ts'
import { declaredLength, isSmallBody, type NodeIncoming, type NodeOutgoing, sentHeader } from './messages.ts'

/**
 * How many bytes of a rejected upload are read at most. Many clients send the whole body before
 * they read the response.
 */
const DRAINED_BYTES = 16_777_216

/**
 * The bytes counted for each chunk besides its length. Otherwise, `DRAINED_BYTES` would allow
 * millions of tiny chunks.
 */
const CHUNK_COST = 256

/** How long the server waits for more bytes of a rejected upload, in milliseconds. */
const DRAIN_TIMEOUT = 2_000

export function closesAmidBody(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  const isTooLong = declaredLength(incoming) > DRAINED_BYTES
  return isTooLong || isContinueDue(incoming, outgoing) || isLastByHead(incoming, outgoing)
}

/**
 * Returns whether this is the last request of its connection. Each request with an `Upgrade` header
 * is the last, because Node loses data that arrives together with the end of the request body.
 */
export function isLastByHead(incoming: NodeIncoming, outgoing: NodeOutgoing): boolean {
  return outgoing.shouldKeepAlive === false || sentHeader(incoming, 'upgrade') !== undefined
}

/**
 * Reads the rest of the request body after the response is sent. Only then can the client reuse the
 * connection.
 */
export function readRest(incoming: NodeIncoming, outgoing: NodeOutgoing): void {
  outgoing.on('finish', async () => {
    if (isSmallBody(incoming)) return incoming.resume?.()
    await drain(incoming)
    if (!incoming.complete) incoming.socket?.destroy?.()
  })
}

/**
 * Discards the request body until it ends, exceeds `DRAINED_BYTES`, or pauses for `DRAIN_TIMEOUT`.
 */
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

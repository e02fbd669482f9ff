import { Readable } from 'node:stream'
import { tooLarge } from '../../src/door.ts'
import { PetStoreError } from '../../src/index.ts'
import { declaredLength } from './headers.ts'
import { keptBody } from './kept-body.ts'
import type { NodeIncoming } from './types.ts'

/** The request whose body it is. Its client may wait for "100 Continue". */
interface Waiting {
  isBodyTaken: boolean
  sendContinue(): void
}

/**
 * Reads the whole body of a Node request, or takes what the host has kept of it where the host has read it.
 *
 * @throws {PetStoreError} `payload_too_large`, before the whole of it is read; `incomplete_body` where the client leaves;
 * `body_already_read` where the host has read it and nothing exact is left
 */
export function readBody(incoming: NodeIncoming, limit: number, request: Waiting): Promise<Uint8Array> {
  const length = declaredLength(incoming.rawHeaders)
  if (length > limit) throw tooLarge(limit)
  // HTTP/2 calls a body that has broken off before it was read ended as well.
  if (incoming.httpVersionMajor >= 2 && incoming.aborted && !incoming.readableDidRead)
    throw new PetStoreError('incomplete_body')
  if (isRead(incoming)) return Promise.resolve(withinLimit(keptBody(incoming), limit))
  request.sendContinue()
  return length > 0 && incoming.httpVersionMajor < 2
    ? takeOrCollect(incoming, length, limit, request)
    : collect(incoming, limit)
}

/** The state of the stream decides: parsers leave a `body` behind also where they have read nothing. */
function isRead(incoming: NodeIncoming): boolean {
  return incoming.readableDidRead === true || incoming.readableEnded === true
}

/**
 * A short body mostly comes with its head. Then it is taken as it lies there: the events by which a stream flows would
 * cost as much as all else that a door does. Node's parser hands the body over after the head, so that comes first.
 */
async function takeOrCollect(
  incoming: NodeIncoming,
  length: number,
  limit: number,
  request: Waiting,
): Promise<Uint8Array> {
  await undefined
  if (isRead(incoming)) return withinLimit(keptBody(incoming), limit)
  if (!isThere(incoming, length)) return collect(incoming, limit)
  const body = incoming.read() as Uint8Array
  request.isBodyTaken = true
  return body
}

/** Whether the whole body waits to be read, as bytes, and no code of the host watches who does. */
function isThere(incoming: NodeIncoming, length: number): boolean {
  return (
    incoming.readableLength === length &&
    incoming.readableEncoding === null &&
    incoming.on === Readable.prototype.on &&
    !incoming.destroyed
  )
}

function withinLimit(body: Uint8Array, limit: number): Uint8Array {
  if (body.byteLength > limit) throw tooLarge(limit)
  return body
}

/** The listeners stay: once the outcome is known they do nothing, and the rest of a body that is too large flows by. */
function collect(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    let settled = false
    const onBreak = (cause?: unknown) => {
      if (!settled) reject(new PetStoreError('incomplete_body', undefined, { cause }))
      settled = true
    }
    const onData = (chunk: Uint8Array | string) => {
      if (settled) return
      const bytes = toBytes(chunk, incoming.readableEncoding)
      size += bytes.byteLength
      chunks.push(bytes)
      settled = size > limit
      if (settled) reject(tooLarge(limit))
    }
    const onEnd = () => {
      if (settled) return
      settled = true
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
    }
    if (incoming.destroyed) return onBreak()
    incoming.on('data', onData)
    incoming.on('error', onBreak)
    incoming.on('close', onBreak)
    if (incoming.httpVersionMajor < 2) incoming.on('end', onEnd)
    else {
      // HTTP/2 calls a body that breaks off ended as well, just before it says so.
      incoming.on('aborted', onBreak)
      incoming.on('end', () => setImmediate(onEnd))
    }
    if (incoming.readableFlowing !== true) setFlowing(incoming)
  })
}

/** The host may have called `setEncoding`. */
function toBytes(chunk: Uint8Array | string, encoding: string | null | undefined): Uint8Array {
  return typeof chunk === 'string' ? Buffer.from(chunk, (encoding ?? 'utf8') as BufferEncoding) : chunk
}

/** The host may have paused the stream, or wait for `readable` itself: then nothing flows unless it is pulled. */
function setFlowing(incoming: NodeIncoming): void {
  if (incoming.listenerCount('readable') === 0) incoming.resume()
  else
    incoming.on('readable', () => {
      while (incoming.read() !== null);
    })
}

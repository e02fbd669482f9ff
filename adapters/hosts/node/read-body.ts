import { setImmediate } from 'node:timers'
import { tooLarge } from '../../../src/http/read-body.ts'
import { PetStoreError } from '../../../src/index.ts'
import { declaredLength } from './headers.ts'
import { keptBody, lost } from './parsed-body.ts'
import type { NodeIncoming } from './types.ts'

/** How many pieces of a body are made one. */
const MANY = 64

/** A request whose client may wait for "100 Continue". */
interface Waiting {
  sendContinue(): void
}

/**
 * Reads the whole body of a Node request, or takes what the host has kept of it where the host has read it.
 *
 * @throws {PetStoreError} `payload_too_large`, before the whole of it is read; `incomplete_body` where the client leaves;
 * `body_already_read` where the host has read it and nothing exact is left
 */
export function readBody(incoming: NodeIncoming, limit: number, request: Waiting): Promise<Uint8Array> {
  if (declaredLength(incoming) > limit) throw tooLarge(limit)
  // HTTP/2 calls a body that has broken off before it was read ended as well.
  if (incoming.httpVersionMajor >= 2 && incoming.aborted && !incoming.readableDidRead)
    throw new PetStoreError('incomplete_body')
  // The state of the stream decides: parsers leave a `body` behind also where they have read nothing.
  if (incoming.readableDidRead || incoming.readableEnded) return takeKept(incoming, limit)
  request.sendContinue()
  return collect(incoming, limit)
}

/** What the host is still gathering is not yet all that it will have kept. */
async function takeKept(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  if (incoming.readableFlowing && !incoming.readableEnded) await collect(incoming, limit)
  return withinLimit(keptBody(incoming), limit)
}

function withinLimit(body: Uint8Array, limit: number): Uint8Array {
  if (body.byteLength > limit) throw tooLarge(limit)
  return body
}

/**
 * The listeners stay: once the outcome is known they do nothing, and the rest of a body that is too large flows by. A host
 * that pipes the body to where nobody takes it would pause it for ever: what it has to keep then is no more than the limit.
 * One that pauses whenever this resumes has its turn between the two: within one turn they would go on without an end.
 */
function collect(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    const pieces: Uint8Array[] = []
    let size = 0
    let settled = false
    const onBreak = (cause?: unknown) => {
      if (!settled) reject(new PetStoreError('incomplete_body', undefined, { cause }))
      settled = true
    }
    const onData = (chunk: unknown) => {
      if (settled) return
      const bytes = toBytes(chunk, incoming.readableEncoding)
      if (bytes === undefined) {
        settled = true
        reject(lost('the body is read as text, and bytes of it were not'))
        return
      }
      size += bytes.byteLength
      // A body may come byte by byte, and each piece takes more room than its bytes.
      if (pieces.push(bytes) === MANY) chunks.push(Buffer.concat(pieces.splice(0)))
      settled = size > limit
      if (settled) reject(tooLarge(limit))
    }
    const onEnd = () => {
      if (settled) return
      settled = true
      chunks.push(...pieces)
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
    }
    if (incoming.destroyed) return onBreak()
    if (incoming.listenerCount('data') > 0) incoming.on('pause', () => setImmediate(() => settled || incoming.resume()))
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

/** The host may have called `setEncoding`, which puts U+FFFD for what is not UTF-8: what it was cannot be told any more. */
function toBytes(chunk: unknown, encoding: string | null | undefined): Uint8Array | undefined {
  if (typeof chunk !== 'string') return chunk as Uint8Array
  return chunk.includes('\ufffd') ? undefined : Buffer.from(chunk, (encoding ?? 'utf8') as BufferEncoding)
}

/**
 * The host may have paused the stream, or wait for `readable` itself: then nothing flows unless it is pulled, and of what
 * has come already nothing is told again.
 */
function setFlowing(incoming: NodeIncoming): void {
  if (incoming.listenerCount('readable') === 0) {
    incoming.resume()
    return
  }
  const pull = () => {
    while (incoming.read() !== null);
  }
  incoming.on('readable', pull)
  pull()
}

import { setImmediate } from 'node:timers'
import { tooLarge } from '../../../src/http/read-body.ts'
import { PetStoreError } from '../../../src/index.ts'
import { declaredLength } from './headers.ts'
import { keptBody, lost } from './parsed-body.ts'
import type { NodeIncoming } from './types.ts'

/** Small chunks are joined when there are this many: each takes more memory than its bytes. */
const MANY = 64

/** A request whose client may wait for "100 Continue". */
interface Waiting {
  sendContinue(): void
}

/**
 * Reads the whole body of a Node request, or uses what the host has kept if it has read the body.
 *
 * @throws {PetStoreError} `payload_too_large` as soon as the limit is exceeded; `incomplete_body` if the client disconnects;
 * `body_already_read` if the host has read it and the exact bytes are lost
 */
export function readBody(incoming: NodeIncoming, limit: number, request: Waiting): Promise<Uint8Array> {
  if (declaredLength(incoming) > limit) throw tooLarge(limit)
  // In HTTP/2, a body that broke off before it was read counts as ended too.
  if (incoming.httpVersionMajor >= 2 && incoming.aborted && !incoming.readableDidRead)
    throw new PetStoreError('incomplete_body')
  // The stream decides, because parsers set `body` even if they have read nothing.
  if (incoming.readableDidRead || incoming.readableEnded) return takeKept(incoming, limit)
  request.sendContinue()
  return collect(incoming, limit)
}

/** Waits until the host has read the whole body, because it keeps the bytes only then. */
async function takeKept(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  if (incoming.readableFlowing && !incoming.readableEnded) await collect(incoming, limit)
  return withinLimit(keptBody(incoming), limit)
}

function withinLimit(body: Uint8Array, limit: number): Uint8Array {
  if (body.byteLength > limit) throw tooLarge(limit)
  return body
}

/**
 * Collects the body beside other readers of the host. The listeners stay, so that the rest of a body over the limit flows on. If
 * the host pauses the stream, it is resumed in a later turn, because a host may pause it at every resume.
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
      // HTTP/2 emits `end` for a body that breaks off, just before `aborted`.
      incoming.on('aborted', onBreak)
      incoming.on('end', () => setImmediate(onEnd))
    }
    if (incoming.readableFlowing !== true) setFlowing(incoming)
  })
}

/** After `setEncoding`, bytes that are not UTF-8 have become U+FFFD, so the exact bytes are lost. */
function toBytes(chunk: unknown, encoding: string | null | undefined): Uint8Array | undefined {
  if (typeof chunk !== 'string') return chunk as Uint8Array
  return chunk.includes('\ufffd') ? undefined : Buffer.from(chunk, (encoding ?? 'utf8') as BufferEncoding)
}

/**
 * Starts the stream. If the host listens to `readable`, the stream does not flow and must be read, and no event announces what has
 * already arrived.
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

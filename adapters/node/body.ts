import { tooLarge } from '../../src/door.ts'
import { PetStoreError } from '../../src/index.ts'
import { rawHeader } from './headers.ts'
import type { NodeIncoming } from './types.ts'

/**
 * Reads the whole body of a Node request.
 *
 * @throws {PetStoreError} `payload_too_large`, before the whole of it is read; `incomplete_body` where the client leaves
 */
export async function readBody(incoming: NodeIncoming, limit: number, beforeReading: () => void): Promise<Uint8Array> {
  if (Number(rawHeader(incoming.rawHeaders, 'content-length') ?? 0) > limit) throw tooLarge(limit)
  beforeReading()
  return collect(incoming, limit)
}

/** The listeners stay: once the outcome is known they do nothing, and the rest of a body that is too large flows by. */
function collect(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    let ended = false
    const onBreak = (cause?: unknown) => {
      if (!ended) reject(new PetStoreError('incomplete_body', undefined, { cause }))
    }
    const onData = (chunk: Uint8Array) => {
      size += chunk.byteLength
      if (size <= limit) chunks.push(chunk)
      else if (!ended) reject(tooLarge(limit))
      ended ||= size > limit
    }
    const onEnd = () => {
      ended = true
      resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks))
    }
    if (incoming.destroyed) onBreak()
    // HTTP/2 calls a body that breaks off ended as well, after this.
    incoming.on('aborted', onBreak)
    incoming.on('data', onData)
    incoming.on('end', onEnd)
    incoming.on('error', onBreak)
    incoming.on('close', onBreak)
  })
}

import { tooLarge } from '../../src/door.ts'
import { PetStoreError } from '../../src/index.ts'
import type { NodeIncoming } from './types.ts'

/**
 * Reads the whole body of a Node request.
 *
 * @throws {PetStoreError} `payload_too_large`, before the whole of it is read; `incomplete_body` where the client leaves
 */
export async function readBody(incoming: NodeIncoming, limit: number, beforeReading: () => void): Promise<Uint8Array> {
  if (Number(incoming.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  beforeReading()
  return collect(incoming, limit)
}

function collect(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = []
    let size = 0
    const onData = (chunk: Uint8Array) => {
      size += chunk.byteLength
      if (size > limit) settle(() => reject(tooLarge(limit)))
      else chunks.push(chunk)
    }
    const onEnd = () =>
      settle(() => resolve(chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks, size)))
    const onBreak = (cause?: unknown) =>
      settle(() => reject(new PetStoreError('incomplete_body', undefined, { cause })))
    const listeners = { data: onData, end: onEnd, error: onBreak, close: onBreak }
    const settle = (report: () => void) => {
      for (const [event, listener] of Object.entries(listeners)) incoming.removeListener(event, listener)
      report()
    }
    if (incoming.destroyed) onBreak()
    else for (const [event, listener] of Object.entries(listeners)) incoming.on(event, listener)
  })
}

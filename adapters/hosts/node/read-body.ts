import { setImmediate } from 'node:timers'
import { BodyBytes } from '../../../src/http/body-bytes.ts'
import { payloadTooLarge, tooLarge } from '../../../src/http/read-body.ts'
import { PetStoreError } from '../../../src/index.ts'
import { declaredLength } from './headers.ts'
import { isMockWithBody, keptBody, lost } from './parsed-body.ts'
import { isHttp2, type NodeIncoming, type NodeOutgoing } from './types.ts'
import { isContinueDue } from './unread-body.ts'

/**
 * Returns the request body. If the host has already read it, returns the copy that the host has kept. Not `async`, because that
 * would delay each body by three microtasks.
 */
export function readBody(incoming: NodeIncoming, outgoing: NodeOutgoing, limit: number): Promise<Uint8Array> {
  if (declaredLength(incoming) > limit) return Promise.reject(tooLarge(limit))
  // In HTTP/2, Node emits `end` for an aborted body too, as if it were complete.
  if (isHttp2(incoming) && incoming.aborted && !incoming.readableDidRead)
    return Promise.reject(new PetStoreError('incomplete_body'))
  // `incoming.body` does not show whether the body was read: parsers set it even if they have read nothing.
  if (incoming.readableDidRead || incoming.readableEnded || isMockWithBody(incoming)) return takeKept(incoming, limit)
  if (isContinueDue(incoming, outgoing)) outgoing.writeContinue()
  return collect(incoming, limit)
}

async function takeKept(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  if (incoming.readableFlowing && !incoming.readableEnded) await collect(incoming, limit)
  const body = keptBody(incoming)
  if (body.byteLength > limit) throw tooLarge(limit)
  return body
}

/**
 * Other listeners may need the body too, so the stream must not stop: this function keeps its listeners even beyond the limit. It
 * resumes the stream if other code pauses it, but in a later turn: the other code may pause it again immediately, and resuming in
 * the same turn could then loop forever.
 */
function collect(incoming: NodeIncoming, limit: number): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const body = new BodyBytes(limit)
    let settled = false
    const fail = (error: PetStoreError) => {
      settled = true
      reject(error)
    }
    const onBreak = (cause?: unknown) => {
      if (!settled) fail(new PetStoreError('incomplete_body', undefined, { cause }))
    }
    const onData = (chunk: unknown) => {
      if (settled) return
      const bytes = toBytes(chunk, incoming.readableEncoding)
      const problem = bytes && body.add(bytes)
      if (!bytes) fail(lost('the host reads the body as text, and some bytes may have been replaced'))
      else if (problem !== undefined) fail(payloadTooLarge(problem))
    }
    const onEnd = () => {
      if (settled) return
      settled = true
      resolve(body.all())
    }
    if (incoming.destroyed) return onBreak()
    if (incoming.listenerCount('data') > 0)
      incoming.on('pause', () => setImmediate(() => settled || incoming.resume?.()))
    incoming.on('data', onData)
    incoming.on('error', onBreak)
    incoming.on('close', onBreak)
    if (isHttp2(incoming)) {
      // Node emits `end` for an aborted body too, just before `aborted`, so `onEnd` must wait.
      incoming.on('aborted', onBreak)
      incoming.on('end', () => setImmediate(onEnd))
    } else incoming.on('end', onEnd)
    if (incoming.readableFlowing !== true) setFlowing(incoming)
  })
}

/** Returns `undefined` if bytes are lost: `setEncoding` replaces bytes that are not UTF-8 by U+FFFD. */
function toBytes(chunk: unknown, encoding: string | null | undefined): Uint8Array | undefined {
  if (typeof chunk !== 'string') return chunk as Uint8Array
  return chunk.includes('\ufffd') ? undefined : Buffer.from(chunk, (encoding ?? 'utf8') as BufferEncoding)
}

/**
 * If the host listens to `readable`, `resume` has no effect. Then this function reads the stream at each `readable` event, and once
 * at the start, because no event announces data that has already arrived.
 */
function setFlowing(incoming: NodeIncoming): void {
  if (incoming.listenerCount('readable') === 0) return void incoming.resume?.()
  const pull = () => {
    while (incoming.read() !== null);
  }
  incoming.on('readable', pull)
  pull()
}

import { PetStoreError } from '../../../src/errors.ts'
import { BodyBytes } from '../../../src/http/body-bytes.ts'
import { payloadTooLarge, tooLarge } from '../../../src/http/read-body.ts'
import type { HostRequest } from './messages.ts'

/** Returns the whole body, or what the host has kept of a body that it has begun to read. */
export async function readBody(incoming: HostRequest, limit: number): Promise<Uint8Array> {
  if (Number(incoming.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  if (!isBegun(incoming)) return collect(incoming, limit)
  const bytes = bodyOfHost(incoming)
  if (bytes.byteLength > limit) throw tooLarge(limit)
  return bytes
}

/**
 * Returns whether the host has begun to read the body. `incoming.body` does not show this: parsers
 * set it even if they have read nothing.
 */
function isBegun(incoming: HostRequest): boolean {
  const { readableDidRead, readableEnded, readableFlowing, readableEncoding } = incoming
  const isWatched = incoming.listenerCount('readable') > 0
  return readableDidRead || readableEnded || readableFlowing === true || readableEncoding !== null || isWatched
}

function collect(incoming: HostRequest, limit: number): Promise<Uint8Array> {
  const bytes = new BodyBytes(limit)
  return new Promise((resolve, reject) => {
    const onData = (chunk: Uint8Array) => {
      const problem = bytes.add(chunk)
      if (problem === undefined) return
      incoming.off('data', onData)
      reject(payloadTooLarge(problem))
    }
    const onClose = () => {
      if (!incoming.readableEnded) reject(new PetStoreError('incomplete_body'))
    }
    // In HTTP/2, an aborted request is not `destroyed`.
    if (incoming.destroyed || incoming.aborted) return onClose()
    incoming.on('data', onData)
    incoming.on('end', () => resolve(bytes.all()))
    incoming.on('close', onClose)
    // Without this, a stream that the host has paused would never flow.
    incoming.resume()
  })
}

/**
 * Returns a body that the host has read: the exact bytes if the host kept them, otherwise the
 * parsed object as JSON again. Throws `body_already_read` if something may be lost, such as digits
 * of a large number.
 */
export function bodyOfHost({ rawBody, body, headers }: Pick<HostRequest, 'rawBody' | 'body' | 'headers'>): Uint8Array {
  for (const bytes of [rawBody, body]) if (bytes instanceof Uint8Array) return bytes
  if (typeof rawBody === 'string') {
    // Decoders replace bytes that are not UTF-8 by U+FFFD.
    if (rawBody.includes('\ufffd'))
      throw lost('the host has kept the body as text, and some bytes may have been replaced')
    return Buffer.from(rawBody)
  }
  if (headers['transfer-encoding'] === undefined && !Number(headers['content-length'])) return new Uint8Array()
  if (typeof body === 'object' && body !== null) return Buffer.from(rewrite(body))
  throw lost('the host has read the body and kept neither its bytes nor the parsed object')
}

function rewrite(body: object): string {
  try {
    return JSON.stringify(body, withoutRounding)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new PetStoreError('malformed_json', 'The body cannot be read as JSON: it is nested too deeply.')
  }
}

/** Rejects integers beyond 2^53. Rounded fractions cannot be recognized, so they pass. */
function withoutRounding(_name: string, value: unknown): unknown {
  if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
    throw lost(`the host has parsed the body and may have rounded the number ${value}`)
  return value
}

function lost(why: string): PetStoreError {
  return new PetStoreError(
    'body_already_read',
    `${why}: mount the pet store before the body parser, or keep rawBody on Node's request (in Koa, context.req)`,
  )
}

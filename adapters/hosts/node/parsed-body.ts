import { PetStoreError } from '../../../src/index.ts'
import { sentHeader } from './headers.ts'
import { isHttp2, type NodeIncoming } from './types.ts'

const SHORTEST = '{"name":"a","categoryId":1}'
const TOO_DEEP = 'The body cannot be read as JSON: it is nested too deeply.'

/**
 * Returns a request body that the host has already read: the exact bytes if the host kept them, otherwise the parsed object as JSON
 * again. Throws `body_already_read` if parsing may have lost something, such as digits of a large number.
 */
export function keptBody(incoming: NodeIncoming): Uint8Array {
  const { rawBody, body } = incoming
  for (const kept of [rawBody, body]) if (kept instanceof Uint8Array) return kept
  if (typeof rawBody === 'string') {
    // Decoders replace bytes that are not UTF-8 by U+FFFD.
    if (rawBody.includes('\ufffd'))
      throw lost('the host has kept the body as text, and some bytes may have been replaced')
    return Buffer.from(rawBody)
  }
  const length = sentHeader(incoming, 'content-length')
  // In HTTP/2, a request may have a body although no header announces it. So may a mock request.
  const mayHaveBody =
    sentHeader(incoming, 'transfer-encoding') !== undefined || isHttp2(incoming) || isMockWithBody(incoming)
  if (length === undefined ? !mayHaveBody : Number(length) === 0) return new Uint8Array()
  if (typeof body !== 'object' || body === null)
    throw lost('the host has read the body and kept neither its bytes nor the parsed object')
  // Some parsers set `{}` without parsing. Accept `{}` only for a body too short to be an animal: such a body is invalid anyway.
  if (Object.keys(body).length === 0 && !Array.isArray(body) && !(Number(length) < SHORTEST.length))
    throw lost('the host has read the body and kept only an empty object')
  return Buffer.from(rewrite(body))
}

/** Returns whether a request is no stream, and has its body from the start, as a mock request of node-mocks-http may have. */
export function isMockWithBody({ readableDidRead, body, rawBody }: NodeIncoming): boolean {
  return readableDidRead === undefined && (rawBody !== undefined || Object.keys(body ?? {}).length > 0)
}

function rewrite(body: object): string {
  try {
    return JSON.stringify(body, (_name, value: unknown) => {
      // Integers beyond 2^53 may have been rounded, perhaps to infinity. Rounded fractions cannot be recognized, so they pass.
      if (typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER))
        throw lost(`the host has parsed the body and may have rounded the number ${value}`)
      return value
    })
  } catch (error) {
    throw error instanceof RangeError ? new PetStoreError('malformed_json', TOO_DEEP) : error
  }
}

export function lost(why: string): PetStoreError {
  return new PetStoreError(
    'body_already_read',
    `${why}: mount the pet store before the body parser, or keep rawBody on Node's request (in Koa, context.req)`,
  )
}

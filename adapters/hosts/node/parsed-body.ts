import { PetStoreError } from '../../../src/index.ts'
import { sentHeader } from './headers.ts'
import type { NodeIncoming } from './types.ts'

const SHORTEST = '{"name":"a","categoryId":1}'
const TOO_DEEP = 'The body cannot be read as JSON: it is nested too deeply.'

/**
 * Returns a body that the host has already read: the exact bytes if the host kept them, otherwise the parsed value as JSON again.
 *
 * @throws {PetStoreError} `body_already_read` if parsing may have lost something; `malformed_json` if the value is nested too
 * deeply
 */
export function keptBody(incoming: NodeIncoming): Uint8Array {
  const { httpVersionMajor, rawBody, body, _body } = incoming
  for (const kept of [rawBody, body]) if (kept instanceof Uint8Array) return kept
  const length = sentHeader(incoming, 'content-length')
  for (const kept of [rawBody, body])
    if (typeof kept === 'string' && Number(length ?? 1) > 0) return wholeText(kept, length)
  // In HTTP/2, a request may have a body although no header announces it.
  const isAnnounced = sentHeader(incoming, 'transfer-encoding') !== undefined || httpVersionMajor > 1
  if (length === undefined ? !isAnnounced : Number(length) === 0) return new Uint8Array()
  if (body === undefined || body === null) throw lost('the host has read the body and kept nothing of it')
  if (isEmptyObject(body) && _body !== true && !(Number(length) < SHORTEST.length))
    throw lost('the host has read the body and kept only an empty object')
  return Buffer.from(rewrite(body))
}

/**
 * Returns the bytes of a text if its length shows that the text is the whole body. A text with U+FFFD is refused: decoding
 * replaces bytes that are not UTF-8 by U+FFFD.
 */
function wholeText(text: string, length: unknown): Uint8Array {
  const bytes = Buffer.from(text)
  if (length !== undefined && Number(length) !== bytes.byteLength)
    throw lost(`the host has read a body of ${String(length)} bytes and kept a text of ${bytes.byteLength} bytes`)
  if (text.includes('\ufffd')) throw lost('the host has read the body as text, and some bytes may have been replaced')
  return bytes
}

/** Parsers also set `{}` if they have parsed nothing. `{}` is used only if the body was too short for an animal. */
function isEmptyObject(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0
}

function rewrite(body: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(body, (_name, value: unknown) => {
      if (isRounded(value)) throw lost(`the host has parsed the body and may have rounded the number ${value}`)
      return value
    })
    if (text !== undefined) return text
  } catch (error) {
    if (error instanceof PetStoreError) throw error
    if (error instanceof RangeError) throw new PetStoreError('malformed_json', TOO_DEEP)
    throw lost('the host has parsed the body, and the result cannot be written as JSON', error)
  }
  throw lost('the host has parsed the body, and the result is not a JSON value')
}

/** Returns whether parsing may have rounded a value: integers beyond 2^53 and infinity. Rounded fractions are not noticed. */
function isRounded(value: unknown): boolean {
  return (
    typeof value === 'number' && !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value))
  )
}

/** Returns the error for a body that the host has read without keeping its exact bytes. */
export function lost(why: string, cause?: unknown): PetStoreError {
  return new PetStoreError(
    'body_already_read',
    `${why}: mount the pet store before the body parser, or keep request.rawBody`,
    {
      cause,
    },
  )
}

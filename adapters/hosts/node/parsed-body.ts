import { PetStoreError } from '../../../src/index.ts'
import { sentHeader } from './headers.ts'
import type { NodeIncoming } from './types.ts'

const SHORTEST = '{"name":"a","categoryId":1}'
const TOO_DEEP = 'The body cannot be read as JSON: it is nested too deeply.'

/**
 * Returns a body that the host has already read: the exact bytes if it kept them, or else the parsed value as JSON, if writing it
 * loses nothing.
 *
 * @throws {PetStoreError} `body_already_read`
 */
export function keptBody(incoming: NodeIncoming): Uint8Array {
  const { httpVersionMajor, rawBody, body, _body } = incoming
  for (const kept of [rawBody, body]) if (kept instanceof Uint8Array) return kept
  const length = sentHeader(incoming, 'content-length')
  for (const kept of [rawBody, body])
    if (typeof kept === 'string' && Number(length ?? 1) > 0) return wholeText(kept, length)
  // HTTP/2 may send a body without announcing it in a header.
  const isAnnounced = sentHeader(incoming, 'transfer-encoding') !== undefined || httpVersionMajor > 1
  if (length === undefined ? !isAnnounced : Number(length) === 0) return new Uint8Array()
  if (body === undefined || body === null) throw lost('the body was read, and nothing of it was kept')
  if (isEmptyObject(body) && _body !== true && !(Number(length) < SHORTEST.length))
    throw lost('the body was read, and only an empty object was kept')
  return Buffer.from(rewrite(body))
}

/** The length shows whether the text is the whole body. Decoding replaces bytes that are not UTF-8 by U+FFFD. */
function wholeText(text: string, length: unknown): Uint8Array {
  const bytes = Buffer.from(text)
  if (length !== undefined && Number(length) !== bytes.byteLength)
    throw lost('the body was read, and the text that was kept is not as long as it was')
  if (text.includes('\ufffd')) throw lost('the body was read, and the text that was kept may not be what it was')
  return bytes
}

/** Parsers set `{}` if they have parsed nothing, so `{}` is a body only if the real one was too short for an animal. */
function isEmptyObject(body: unknown): boolean {
  return typeof body === 'object' && body !== null && !Array.isArray(body) && Object.keys(body).length === 0
}

function rewrite(body: unknown): string {
  try {
    const text: string | undefined = JSON.stringify(body, (_name, value: unknown) => {
      if (isRounded(value)) throw lost(`the body was parsed, and the number ${value} in it may have been rounded`)
      return value
    })
    if (text !== undefined) return text
  } catch (error) {
    if (error instanceof PetStoreError) throw error
    if (error instanceof RangeError) throw new PetStoreError('malformed_json', TOO_DEEP)
    throw lost('the body was parsed, and cannot be written as JSON again', error)
  }
  throw lost('the body was parsed, and is no JSON value any more')
}

/** Returns whether a number may have been rounded: integers beyond 2^53 and infinity. Lost digits of a fraction go unnoticed. */
function isRounded(value: unknown): boolean {
  return (
    typeof value === 'number' && !Number.isSafeInteger(value) && (Number.isInteger(value) || !Number.isFinite(value))
  )
}

/** Returns the error of a body that the host has read without keeping the exact bytes. */
export function lost(why: string, cause?: unknown): PetStoreError {
  return new PetStoreError(
    'body_already_read',
    `${why}: mount the pet store before the body parser, or keep request.rawBody`,
    {
      cause,
    },
  )
}

import { PetStoreError } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import type { NewPet } from '../model.ts'
import type { CreatedPet, Idempotency, PetStorage } from '../ports.ts'
import { describe } from '../support/describe-value.ts'
import { hexDigest } from '../support/hex-digest.ts'

/**
 * Matches the header `Idempotency-Key`: a structured-field string without parameters (RFC 9651, section 3.3.3), or the key without
 * quotes, as most clients send it. The pattern is in the OpenAPI document.
 */
export const IDEMPOTENCY_KEY = /^(?:"(?:[ !#-[\]-~]|\\["\\]){1,255}"|[!#-~]{1,255})$/

const EXPECTED =
  '1 to 255 ASCII characters: bare without spaces and double quotes, or as a string such as "8e03978e-40d5-43dd-bc93-6894a57f9324"'

/**
 * Returns the key in the header `Idempotency-Key`, or `undefined` if the request has no such header.
 *
 * @throws {PetStoreError} `idempotency_not_supported` or `invalid_idempotency_key`
 */
export function idempotencyKeyOf(request: ApiRequest, storage: PetStorage): string | undefined {
  const header = request.header('idempotency-key')
  if (header === undefined) return undefined
  if (!storage.createOnce) throw new PetStoreError('idempotency_not_supported')
  if (IDEMPOTENCY_KEY.test(header)) return header[0] === '"' ? header.slice(1, -1).replaceAll(/\\(.)/g, '$1') : header
  const received = `${describe(header)} of ${header.length} characters`
  const message = `The header Idempotency-Key is not valid: expected ${EXPECTED}, got ${received}.`
  throw new PetStoreError('invalid_idempotency_key', message)
}

/** Returns text that is equal for equal animals. The name is the last part, because it may contain spaces. */
export function fingerprintOf({ name, categoryId, status }: NewPet): string {
  return Object.values({ categoryId, status, name } satisfies Record<keyof NewPet, unknown>).join(' ')
}

/**
 * Returns whether a request has used the key of this request before, for the same animal.
 *
 * @throws {PetStoreError} `idempotency_key_reused` if the key was used for another animal
 */
export function isReplay({ earlier }: CreatedPet): boolean {
  if (earlier == null) return false
  if (earlier === 'same') return true
  if (earlier === 'different') throw new PetStoreError('idempotency_key_reused')
  throw new TypeError(`storage: expected earlier to be "same" or "different", got ${describe(earlier)}`)
}

/**
 * How long a used key is known, in milliseconds: 48 hours. A client whose repeat gets 429 waits until the end of the day and of a
 * ban, and then sends the key again.
 */
export const KEY_PERIOD = 172_800_000

/** The hashes of a used key, in hexadecimal. */
export interface IdempotencyHashes {
  /** The SHA-256 of the scope and the key. */
  readonly key: string
  /** The SHA-256 of the fingerprint. */
  readonly fingerprint: string
}

/**
 * Returns the hashes that a database keeps in place of an idempotency key and the fingerprint of its animal.
 *
 * @example
 * ```ts
 * import { hashIdempotency } from 'petstore-kit/back-end'
 *
 * const idempotency = { scope: 'account:acme', key: 'order-1', fingerprint: '7 available Rex' }
 * console.log((await hashIdempotency(idempotency)).key.length) // 64
 * ```
 */
export async function hashIdempotency(idempotency: Idempotency): Promise<IdempotencyHashes> {
  const encoder = new TextEncoder()
  const digest = (text: string) => hexDigest('SHA-256', encoder.encode(text))
  return { key: await digest(keyText(idempotency)), fingerprint: await digest(idempotency.fingerprint) }
}

/** Returns the text whose hash is stored for a key. As JSON, no other pair of scope and key has the same text. */
export function keyText({ scope, key }: Pick<Idempotency, 'scope' | 'key'>): string {
  return JSON.stringify([scope, key])
}

import { PetStoreError } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import type { NewPet } from '../model.ts'
import type { CreatedPet, Idempotency } from '../ports.ts'
import { HEADER_EXPECTED, IDEMPOTENCY_HEADER } from '../schemas/idempotency-key.ts'
import { describeValue } from '../support/describe-value.ts'
import { hexDigest } from '../support/hex-digest.ts'

/**
 * Reads the header `Idempotency-Key`.
 * @throws {PetStoreError} `invalid_idempotency_key`
 */
export function idempotencyKeyOf(request: ApiRequest): string | undefined {
  const header = request.header('idempotency-key')
  if (header === undefined) return undefined
  if (IDEMPOTENCY_HEADER.test(header))
    return header[0] === '"' ? header.slice(1, -1).replaceAll(/\\(.)/g, '$1') : header
  const received = `${describeValue(header)} of ${header.length} characters`
  const message = `The header Idempotency-Key is not valid: expected ${HEADER_EXPECTED}, got ${received}.`
  throw new PetStoreError('invalid_idempotency_key', message)
}

/**
 * Returns a text that is equal only for equal animals. The name comes last, because it may contain
 * spaces.
 * @param pet - as the client has sent it: if it had the default of `status`, a new `defaultStatus`
 * would turn a repeated request into a different one
 */
export function fingerprintOf({ name, categoryId, status }: NewPet): string {
  return Object.values({ categoryId, status, name } satisfies Record<keyof NewPet, unknown>).join(' ')
}

/**
 * Returns whether an earlier request with the same idempotency key has added the animal.
 * @throws {PetStoreError} `idempotency_key_reused` if the key was used for another animal
 */
export function isReplay({ earlier }: CreatedPet): boolean {
  if (earlier == null) return false
  if (earlier === 'same') return true
  if (earlier === 'different') throw new PetStoreError('idempotency_key_reused')
  throw new TypeError(`storage: the member "earlier" must be "same" or "different", got ${describeValue(earlier)}`)
}

/**
 * How long a used key is kept: 48 hours, in milliseconds. Clients may repeat requests on the next
 * day or after a ban.
 */
export const KEY_PERIOD = 172_800_000

/** The hashes of an idempotency key and its animal, in hexadecimal. */
export interface IdempotencyHashes {
  /** The SHA-256 of the scope and the key. */
  readonly key: string
  /** The SHA-256 of the fingerprint. */
  readonly fingerprint: string
}

/**
 * Returns the hashes that a database keeps instead of an idempotency key and the fingerprint of
 * its animal.
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
  return { key: await digest(keyText(idempotency)), fingerprint: await digest(fingerprintText(idempotency)) }
}

/**
 * Returns a text that identifies one key of one scope. JSON keeps scope and key apart: simply
 * joined, "a" + "bc" and "ab" + "c" would be equal.
 */
export function keyText({ scope, key }: Pick<Idempotency, 'scope' | 'key'>): string {
  return JSON.stringify([scope, key])
}

/**
 * Returns the text of a fingerprint that every engine hashes. JSON, because PostgreSQL cannot read U+0000 and lone
 * surrogates.
 */
export function fingerprintText({ fingerprint }: Pick<Idempotency, 'fingerprint'>): string {
  return JSON.stringify(fingerprint)
}

import { PetStoreError } from '../errors.ts'
import type { ApiRequest } from '../http/request.ts'
import type { NewPet } from '../model.ts'
import type { CreatedPet, PetStorage } from '../ports.ts'
import { describe } from '../support/describe-value.ts'

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

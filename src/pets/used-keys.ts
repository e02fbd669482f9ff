import type { Idempotency } from '../ports.ts'
import { hexDigest } from '../support/hex-digest.ts'

/** How long a used key is known, in milliseconds: 24 hours. */
export const KEY_PERIOD = 86_400_000
/** The largest number of used keys of one scope: as many as a key of the plan `business` can use in a day. */
export const MAX_KEYS = 100_000

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
 * const idempotency = { scope: 'account:acme', key: 'order-1', fingerprint: '7 available Rex', now: Date.now() }
 * console.log((await hashIdempotency(idempotency)).key.length) // 64
 * ```
 */
export async function hashIdempotency(idempotency: Idempotency): Promise<IdempotencyHashes> {
  const encoder = new TextEncoder()
  const digest = (text: string) => hexDigest('SHA-256', encoder.encode(text))
  return { key: await digest(keyText(idempotency)), fingerprint: await digest(idempotency.fingerprint) }
}

/** Returns the text whose hash is stored for a key. As JSON, no other pair of scope and key has the same text. */
export function keyText({ scope, key }: Idempotency): string {
  return JSON.stringify([scope, key])
}

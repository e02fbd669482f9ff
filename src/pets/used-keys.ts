import type { Idempotency } from '../ports.ts'
import { hexDigest } from '../support/hex-digest.ts'

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

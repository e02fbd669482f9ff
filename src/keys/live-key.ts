import type { ApiKey } from '../model.ts'
import { looksLikeSeconds } from '../support/time.ts'

/**
 * Returns a key if it is valid at this time, in milliseconds since the Unix epoch. Also returns a key whose `expiresAt` is no such
 * time, such as seconds: `guardPorts` reports this mistake of a key store, which a 401 would hide.
 */
export function liveKey(key: ApiKey | null | undefined, now: number): ApiKey | undefined {
  // Databases store `null` for a time that is not set.
  if (!key || key.revokedAt != null) return undefined
  const { expiresAt } = key
  const isExpired = typeof expiresAt === 'number' && !looksLikeSeconds(expiresAt) && expiresAt <= now
  return isExpired ? undefined : key
}

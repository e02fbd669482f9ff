import type { ApiKey, KeyState } from '../model.ts'
import { looksLikeSeconds } from '../support/time.ts'

/**
 * Returns the state of a key at a time in milliseconds since the Unix epoch. A key store of the host may
 * return `null` for a time that is not set.
 */
export function stateOf({ revokedAt, expiresAt, suspendedAt }: ApiKey, now: number): KeyState {
  if (revokedAt != null) return 'revoked'
  if (hasPassed(expiresAt, now)) return 'expired'
  return suspendedAt == null ? 'active' : 'suspended'
}

/**
 * Returns a key if it is valid at this time. Also returns a key whose `expiresAt` is no time in milliseconds, such as
 * seconds: `guardPorts` reports this mistake of a key store, which a 401 would hide.
 */
export function liveKey(key: ApiKey | null | undefined, now: number): ApiKey | undefined {
  if (!key || hasPassed(key.tokenExpiresAt, now)) return undefined
  return stateOf(key, now) === 'active' ? key : undefined
}

function hasPassed(time: number | null | undefined, now: number): boolean {
  return typeof time === 'number' && !looksLikeSeconds(time) && time <= now
}

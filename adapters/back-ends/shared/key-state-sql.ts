/**
 * Returns SQL for the state of a key, as `stateOf` returns it.
 * @param now - SQL for the time, in milliseconds since the Unix epoch
 */
export function keyState(now: string): string {
  return `CASE WHEN revoked_at IS NOT NULL THEN 'revoked' WHEN expires_at <= ${now} THEN 'expired'
    WHEN suspended_at IS NOT NULL THEN 'suspended' ELSE 'active' END`
}

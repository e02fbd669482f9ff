import type { ApiKey } from '../../../src/index.ts'
import type { SqliteValue } from './database.ts'

/** A row of the table of keys, as the statements return it. Integers are text. */
export interface KeyRow {
  readonly id: string
  readonly plan: string
  readonly account: string | null
  readonly per_minute: string | null
  readonly per_day: string | null
  readonly label: string | null
  readonly created_at: string
  readonly expires_at: string | null
  readonly revoked_at: string | null
}

const INTEGERS = ['per_minute', 'per_day', 'created_at', 'expires_at', 'revoked_at']
const SELECT = `SELECT id, plan, account, label, ${INTEGERS.map((name) => `CAST(${name} AS TEXT) AS ${name}`).join(', ')}
  FROM petstore_keys`

/** The statements for the table of keys. */
export const keyStatements = {
  byHash: `${SELECT} WHERE token_sha256 = ? AND revoked_at IS NULL`,
  all: `${SELECT} ORDER BY number`,
  insert: `INSERT INTO petstore_keys
    (id, token_sha256, plan, account, label, per_minute, per_day, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER))`,
  revoke: `UPDATE petstore_keys SET revoked_at = CAST(? AS INTEGER)
    WHERE id = ? AND revoked_at IS NULL RETURNING 1`,
} as const

/** Returns the parameter values for `insert`. */
export function keyValues(
  { id, plan, account, label, limits, createdAt, expiresAt }: ApiKey,
  hash: string,
): SqliteValue[] {
  const integers = [limits?.perMinute, limits?.perDay, createdAt, expiresAt]
  const texts = integers.map((integer) => (integer === undefined ? null : String(integer)))
  return [id, hash, plan, account ?? null, label ?? null, ...texts]
}

/** Converts a row of `byHash` or `all` to a key. */
export function toKey({
  id,
  plan,
  account,
  per_minute,
  per_day,
  label,
  created_at,
  expires_at,
  revoked_at,
}: KeyRow): ApiKey {
  const limits = per_minute !== null && per_day !== null && { perMinute: Number(per_minute), perDay: Number(per_day) }
  return {
    id,
    plan,
    createdAt: Number(created_at),
    ...(account !== null && { account }),
    ...(limits && { limits }),
    ...(label !== null && { label }),
    ...(expires_at !== null && { expiresAt: Number(expires_at) }),
    ...(revoked_at !== null && { revokedAt: Number(revoked_at) }),
  }
}

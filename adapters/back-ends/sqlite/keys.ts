import { type ApiKey, type Clock, hashToken, isToken, type ManagedKeyStore, newKey } from '../../../src/index.ts'
import { prepare, type SqliteDatabase, type SqliteValue } from './database.ts'
import { guarded } from './errors.ts'
import type { Writer } from './writer.ts'

interface Row {
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

/** Keeps API keys in a table, by the SHA-256 of their token. */
export function sqliteKeyStore(database: SqliteDatabase, { write }: Writer, clock: Clock): ManagedKeyStore {
  const byHash = prepare(database, `${SELECT} WHERE token_sha256 = ? AND revoked_at IS NULL`)
  const all = prepare(database, `${SELECT} ORDER BY number`)
  const insert = prepare(
    database,
    `INSERT INTO petstore_keys
    (id, token_sha256, plan, account, label, per_minute, per_day, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER))`,
  )
  const revoke = prepare(
    database,
    `UPDATE petstore_keys SET revoked_at = CAST(? AS INTEGER)
    WHERE id = ? AND revoked_at IS NULL RETURNING 1`,
  )

  return {
    async find(token) {
      if (!isToken(token)) return undefined
      const hash = await hashToken(token)
      const [row] = guarded(() => byHash.all(hash)) as Row[]
      return row && toKey(row)
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now())
      await write(() => insert.run(...toValues(key, hash)))
      return { token, key }
    },
    async revoke(id) {
      const now = String(clock.now())
      return write(() => revoke.all(now, id).length > 0)
    },
    list: async () => (guarded(() => all.all()) as Row[]).map(toKey),
  }
}

function toValues({ id, plan, account, label, limits, createdAt, expiresAt }: ApiKey, hash: string): SqliteValue[] {
  const integers = [limits?.perMinute, limits?.perDay, createdAt, expiresAt]
  const texts = integers.map((integer) => (integer === undefined ? null : String(integer)))
  return [id, hash, plan, account ?? null, label ?? null, ...texts]
}

function toKey({ id, plan, account, per_minute, per_day, label, created_at, expires_at, revoked_at }: Row): ApiKey {
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

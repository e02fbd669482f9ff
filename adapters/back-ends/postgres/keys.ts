import { hashToken, isToken, keyChanges, newKey } from '../../../src/back-end.ts'
import type { ApiKey, KeyChanges, ManagedKeyStore } from '../../../src/index.ts'
import type { Connection } from './connection.ts'
import { keyStatements } from './statements.ts'
import type { SqlTime } from './time.ts'

interface KeyRow {
  readonly id: string
  readonly plan: string
  readonly account: string | null
  readonly minute: number | null
  readonly day: number | null
  readonly label: string | null
  readonly created: number
  readonly expires: number | null
  readonly revoked: number | null
}

/** Tokens never leave the process: PostgreSQL gets only their SHA-256 hashes. */
export function postgresKeyStore(
  connection: Connection,
  schema: string,
  time: SqlTime,
  plans?: readonly string[],
): ManagedKeyStore {
  const { query } = connection
  const { findOne, changeOne, revokeOne, listAll, issueOne } = keyStatements(schema, time)

  function toKey(row: KeyRow): ApiKey {
    const { id, plan, account, label, minute: perMinute, day: perDay } = row
    return Object.freeze({
      id,
      plan,
      createdAt: Number(row.created),
      ...(account !== null && { account }),
      ...(perMinute !== null &&
        perDay !== null && { limits: { perMinute: Number(perMinute), perDay: Number(perDay) } }),
      ...(label !== null && { label }),
      ...(row.expires !== null && { expiresAt: Number(row.expires) }),
      ...(row.revoked !== null && { revokedAt: Number(row.revoked) }),
    })
  }

  return {
    async find(token) {
      if (!isToken(token)) return undefined
      const [row] = await query<KeyRow>(findOne, [await hashToken(token), ...time.values()])
      return row && toKey(row)
    },
    async issue(options) {
      // The creation time 0 is not stored: the statement uses PostgreSQL's clock.
      const { token, hash, key } = await newKey(options, 0, plans)
      const { id, plan, account, limits, label, expiresAt } = key
      const limitValues = [limits?.perMinute ?? null, limits?.perDay ?? null]
      const values = [id, hash, plan, account ?? null, ...limitValues, label ?? null, expiresAt ?? null]
      const [row] = await query<KeyRow>(issueOne, [...values, ...time.values()])
      return { token, key: toKey(row as KeyRow) }
    },
    async update(id, changes) {
      const { limits, ...rest } = Object.fromEntries(keyChanges(changes, plans)) as KeyChanges
      const columns = limits === undefined ? rest : { ...rest, perMinute: null, perDay: null, ...limits }
      // No key has an id with U+0000, and PostgreSQL would refuse such a text with an error.
      if (id.includes('\u0000')) return undefined
      const [row] = await query<KeyRow>(changeOne, [id, JSON.stringify(columns)])
      return row && toKey(row)
    },
    async revoke(id) {
      if (id.includes('\u0000')) return false
      return (await query(revokeOne, [id, ...time.values()])).length === 1
    },
    list: async () => (await query<KeyRow>(listAll)).map(toKey),
  }
}

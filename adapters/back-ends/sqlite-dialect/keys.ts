import {
  type ApiKey,
  type Clock,
  hashToken,
  isToken,
  type ManagedKeyStore,
  type MaybePromise,
  newKey,
} from '../../../src/index.ts'
import type { SqliteValue } from '../sqlite/connection.ts'

/** Selects each key as one JSON text. `json_patch` removes the members that are null. */
const SELECT = `SELECT json_patch('{}', json_object('id', id, 'plan', plan, 'account', account, 'label', label,
    'limits', json(iif(per_minute IS NULL, NULL, json_object('perMinute', per_minute, 'perDay', per_day))),
    'createdAt', created_at, 'expiresAt', expires_at, 'revokedAt', revoked_at)) AS json
  FROM petstore_keys`

/** The statements for the table of keys. Drivers may bind numbers as floating point, so they are cast. */
export const keyStatements = {
  byHash: `${SELECT} WHERE token_sha256 = ? AND revoked_at IS NULL`,
  all: `${SELECT} ORDER BY number`,
  insert: `INSERT INTO petstore_keys
    (id, token_sha256, plan, account, label, per_minute, per_day, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER)) RETURNING 1`,
  revoke: `UPDATE petstore_keys SET revoked_at = CAST(? AS INTEGER)
    WHERE id = ? AND revoked_at IS NULL RETURNING 1`,
} as const

/** Runs one of the statements, and returns its rows. */
export type KeyRun = (name: keyof typeof keyStatements, ...values: SqliteValue[]) => MaybePromise<readonly unknown[]>

/** Creates a key store on the table of keys. It finds a key by the SHA-256 hash of its token. */
export function tableKeyStore(read: KeyRun, write: KeyRun, clock: Clock): ManagedKeyStore {
  return {
    async find(token) {
      if (!isToken(token)) return undefined
      return toKeys(await read('byHash', await hashToken(token)))[0]
    },
    async issue(options) {
      const { token, hash, key } = await newKey(options, clock.now())
      const { id, plan, account, label, limits, expiresAt } = key
      const numbers = [limits?.perMinute, limits?.perDay, key.createdAt, expiresAt].map((number) => number ?? null)
      await write('insert', id, hash, plan, account ?? null, label ?? null, ...numbers)
      return { token, key }
    },
    revoke: async (id) => (await write('revoke', clock.now(), id)).length > 0,
    list: async () => toKeys(await read('all')),
  }
}

function toKeys(rows: readonly unknown[]): ApiKey[] {
  return (rows as { readonly json: string }[]).map(({ json }) => JSON.parse(json))
}

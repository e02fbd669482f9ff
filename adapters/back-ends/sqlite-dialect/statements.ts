import type { MaybePromise } from '../../../src/index.ts'
import { BUCKET_SIZE } from '../shared/anonymous-buckets.ts'

/** A value for a driver. Integers are text, because drivers represent 64-bit integers differently. */
export type SqliteValue = string | number | null

/** An animal as JSON. 64-bit integers are text, because a JSON number would lose digits. */
const PET = 'json_array(CAST(id AS TEXT), name, CAST(category_id AS TEXT), status)'
const FOLLOWING = 'id > CAST(? AS INTEGER) ORDER BY id LIMIT ?'

/** A key as JSON. `json_patch` removes the members that are null. */
const KEY = `json_patch('{}', json_object('id', id, 'plan', plan, 'account', account, 'label', label,
    'limits', json(iif(per_minute IS NULL, NULL, json_object('perMinute', per_minute, 'perDay', per_day))),
    'createdAt', created_at, 'expiresAt', expires_at, 'revokedAt', revoked_at))`

/**
 * The statements for animals and keys.
 *
 * A page is one JSON text, because passing rows and columns from SQLite to JavaScript costs more than parsing. The statement
 * names the index, because after `ANALYZE` SQLite might read all ids instead. Drivers may bind numbers as floating point, so they
 * are cast.
 */
export const statements = {
  page: `SELECT json_group_array(${PET}) AS json FROM (SELECT * FROM petstore_pets WHERE ${FOLLOWING})`,
  pageOfStatus: `SELECT json_group_array(${PET}) AS json
    FROM (SELECT * FROM petstore_pets INDEXED BY petstore_pets_by_status WHERE status = ? AND ${FOLLOWING})`,
  pet: `SELECT ${PET} AS json FROM petstore_pets WHERE id = CAST(? AS INTEGER)`,
  addPet: `INSERT INTO petstore_pets (name, category_id, status) VALUES (?, CAST(? AS INTEGER), ?)
    RETURNING CAST(id AS TEXT) AS id`,
  key: `SELECT ${KEY} AS json FROM petstore_keys WHERE token_sha256 = ? AND revoked_at IS NULL`,
  keys: `SELECT ${KEY} AS json FROM petstore_keys ORDER BY number`,
  addKey: `INSERT INTO petstore_keys
    (id, token_sha256, plan, account, label, per_minute, per_day, created_at, expires_at)
    VALUES (?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER)) RETURNING 1`,
  revokeKey: `UPDATE petstore_keys SET revoked_at = CAST(? AS INTEGER)
    WHERE id = ? AND revoked_at IS NULL RETURNING 1`,
} as const

/** Runs one of the statements, and returns its rows. */
export type Run = (name: keyof typeof statements, ...values: SqliteValue[]) => MaybePromise<readonly unknown[]>

/** How many milliseconds a counter stays stored after its window has ended. If the clock is set back, the limit still applies. */
const KEPT_FOR = 2 * 86_400_000
const PRUNED_AT_ONCE = 500
/** One of this many requests removes a limited number of ended counters, so that no request waits long. */
export const PRUNE_EVERY = 50

/** Returns the statement that removes ended counters. `now` is SQL for the time. */
export function pruneStatement(now: string): string {
  return `DELETE FROM petstore_quota WHERE subject IN
    (SELECT subject FROM petstore_quota WHERE ends_at < ${now} - ${KEPT_FOR} ORDER BY ends_at LIMIT ${PRUNED_AT_ONCE})`
}

/**
 * Returns the statement that makes room for a client in a bucket. `bucket` is SQL for the bucket. A full bucket keeps the clients
 * with the most requests, so clients over their limit are removed last.
 */
export function makeRoomStatement(bucket: string): string {
  return `DELETE FROM petstore_quota WHERE subject IN (SELECT subject FROM petstore_quota WHERE bucket = ${bucket}
    ORDER BY state ->> 'dayEndsAt' DESC, state ->> 'usedInDay' DESC LIMIT -1 OFFSET ${BUCKET_SIZE - 1})`
}

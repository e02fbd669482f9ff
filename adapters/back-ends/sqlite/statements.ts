import type { CallContext } from '../../../src/index.ts'
import { KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { BUCKET_SIZE, KEPT_FOR } from '../shared/counters.ts'
import type { Run } from '../shared/keys.ts'

/** A value for a driver. Ids are text, because drivers represent 64-bit integers differently. */
export type SqliteValue = string | number | null

/** SQL for an animal as JSON. 64-bit integers are text, because a JSON number would lose digits. */
const petWith = (id: string) => `json_array(CAST(${id} AS TEXT), name, CAST(category_id AS TEXT), status)`
const PET = petWith('id')
const FOLLOWING = 'id > CAST(? AS INTEGER) ORDER BY id LIMIT ?'

/** An API key as JSON. `json_patch` removes the members that are null. */
const KEY = `json_patch('{}', json_object('id', id, 'plan', plan, 'account', account, 'label', label,
    'limits', json(iif(per_minute IS NULL, NULL, json_object('perMinute', per_minute, 'perDay', per_day))),
    'createdAt', created_at, 'expiresAt', expires_at, 'revokedAt', revoked_at))`

/**
 * SQL for the new value of a column: the member of the JSON text `changes`, or the old value if
 * `changes` has no such member.
 */
const changed = (column: string, member: string) =>
  `iif(json_type(changes, '$.${member}') IS NULL, ${column}, json_extract(changes, '$.${member}'))`

/** SQL for the engine's time, in milliseconds since the Unix epoch. `unixepoch` returns seconds. */
export const ENGINE_TIME = `round(unixepoch('subsec') * 1000)`

/** SQL for a time that is passed as a value, or for the engine's time if the value is null. */
const TIME = `CAST(coalesce(?, ${ENGINE_TIME}) AS INTEGER)`

/** Enough for the keys of many uses: see `pruneSchedule`. */
const KEYS_PRUNED_AT_ONCE = 1_000

/**
 * A page is one JSON text, because passing rows and columns to JavaScript costs more than parsing.
 * `listStatus` names the index to use: otherwise, after `ANALYZE`, SQLite might read the whole
 * table. Numbers are cast: drivers may bind them as floats.
 */
export const statements = {
  listAll: `SELECT json_group_array(${PET}) AS json FROM (SELECT * FROM petstore_pets WHERE ${FOLLOWING})`,
  listStatus: `SELECT json_group_array(${PET}) AS json
    FROM (SELECT * FROM petstore_pets INDEXED BY petstore_pets_by_status WHERE status = ? AND ${FOLLOWING})`,
  getOne: `SELECT ${PET} AS json FROM petstore_pets WHERE id = CAST(? AS INTEGER)`,
  addPet: `INSERT INTO petstore_pets (name, category_id, status) VALUES (?, CAST(? AS INTEGER), ?)
    RETURNING ${PET} AS json`,
  // The next four statements run in this order in one transaction. Only the first one compares
  // times. On D1, time passes between statements, so a second comparison could treat the same key
  // as expired and add a second animal.
  removeExpiredKey: `DELETE FROM petstore_used_keys
    WHERE key_sha256 = ? AND used_at <= ${TIME} - ${KEY_PERIOD} RETURNING 1`,
  addPetOnce: `INSERT INTO petstore_pets (name, category_id, status) SELECT ?, CAST(? AS INTEGER), ?
    WHERE NOT EXISTS (SELECT 1 FROM petstore_used_keys WHERE key_sha256 = ?) RETURNING ${PET} AS json`,
  // `changes()` is the number of animals that the statement before has added.
  useKey: `INSERT INTO petstore_used_keys (key_sha256, fingerprint_sha256, used_at, pet_id, name, category_id, status)
    SELECT ?, ?, ${TIME}, id, name, category_id, status FROM petstore_pets
    WHERE changes() = 1 AND id = last_insert_rowid() RETURNING 1`,
  usedKey: `SELECT ${petWith('pet_id')} AS json, fingerprint_sha256 AS fingerprint FROM petstore_used_keys
    WHERE key_sha256 = ?`,
  // Checks only the keys that were used first. Also removes keys from a time when the clock was ahead:
  // they expire too late, and could block the removal of later keys until then.
  pruneExpiredKeys: `DELETE FROM petstore_used_keys
    WHERE rowid IN (SELECT rowid FROM petstore_used_keys ORDER BY rowid LIMIT ${KEYS_PRUNED_AT_ONCE})
    AND used_at NOT BETWEEN ${TIME} - ${KEY_PERIOD - 1} AND ${TIME} + ${KEY_PERIOD} RETURNING 1`,
  key: `SELECT ${KEY} AS json FROM petstore_keys
    WHERE token_sha256 = ? AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${TIME})`,
  keys: `SELECT ${KEY} AS json FROM petstore_keys ORDER BY number`,
  addKey: `INSERT INTO petstore_keys
    (id, token_sha256, plan, account, label, per_minute, per_day, expires_at, created_at)
    VALUES (?, ?, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), CAST(? AS INTEGER), ${TIME})
    RETURNING ${KEY} AS json`,
  changeKey: `UPDATE petstore_keys SET plan = ${changed('plan', 'plan')}, account = ${changed('account', 'account')},
    label = ${changed('label', 'label')}, per_minute = ${changed('per_minute', 'perMinute')},
    per_day = ${changed('per_day', 'perDay')}, expires_at = ${changed('expires_at', 'expiresAt')}
    FROM (SELECT ? AS changes) WHERE id = ? AND revoked_at IS NULL RETURNING ${KEY} AS json`,
  revokeKey: `UPDATE petstore_keys SET revoked_at = ${TIME}
    WHERE id = ? AND revoked_at IS NULL RETURNING 1`,
} as const

export type RunOne = Run<keyof typeof statements>

/** The name of a statement, and its values. */
export type Command = Readonly<Parameters<RunOne>>

/** Runs statements in one transaction. Returns the rows of each. */
export type RunAll = (commands: readonly Command[], context?: CallContext) => Promise<readonly (readonly unknown[])[]>

const PRUNED_AT_ONCE = 1_000

/** @param now - SQL for the time */
export function pruneStatement(now: string): string {
  return `DELETE FROM petstore_quota WHERE subject IN
    (SELECT subject FROM petstore_quota WHERE ends_at < ${now} - ${KEPT_FOR} ORDER BY ends_at LIMIT ${PRUNED_AT_ONCE})`
}

/**
 * A full bucket removes the clients with the fewest requests, so a client over its limit is removed
 * last.
 *
 * @param bucket - SQL for the bucket
 * @param order - SQL that puts the clients to keep first
 */
export function makeRoomStatement(bucket: string, order: string): string {
  return `DELETE FROM petstore_quota WHERE subject IN (SELECT subject FROM petstore_quota WHERE bucket = ${bucket}
    ORDER BY ${order} LIMIT -1 OFFSET ${BUCKET_SIZE - 1})`
}

/** Only for SQLite files. D1 counts in SQL, by `d1/statements.ts`. */
export const countStatements = {
  read: 'SELECT state, ends_at FROM petstore_quota WHERE subject = ?',
  update: 'UPDATE petstore_quota SET state = ? WHERE subject = ?',
  replace: 'INSERT OR REPLACE INTO petstore_quota (subject, state, ends_at, bucket) VALUES (?, ?, ?, ?)',
  makeRoom: makeRoomStatement('?', `state ->> 'dayEndsAt' DESC, state ->> 'usedInDay' DESC`),
  prune: pruneStatement('?'),
} as const

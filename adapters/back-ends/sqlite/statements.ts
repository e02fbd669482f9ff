import type { CallContext } from '../../../src/index.ts'
import { KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { BUCKET_SIZE, KEPT_FOR } from '../shared/counters.ts'
import { keyState } from '../shared/key-state-sql.ts'
import type { Run } from '../shared/keys.ts'

/** A value for a driver. Ids are text, because drivers represent 64-bit integers differently. */
export type SqliteValue = string | number | null

/** An animal as JSON. 64-bit integers are text, because a JSON number would lose digits. */
const PET = 'json_array(CAST(id AS TEXT), name, CAST(category_id AS TEXT), status)'
/** Finds an animal that has the given values; a value that is null stands for any. */
const MATCHING = `id = CAST(? AS INTEGER) AND name = coalesce(?, name)
    AND category_id = coalesce(CAST(? AS INTEGER), category_id) AND status = coalesce(?, status)`
const FOLLOWING = 'id > CAST(? AS INTEGER) ORDER BY id LIMIT ?'

/**
 * An API key as JSON. `json_patch` removes the members that are null.
 * @param others - SQL for further members
 */
const keyJson = (
  others = '',
) => `json_patch('{}', json_object('id', id, 'plan', plan, 'account', account, 'label', label,
    'limits', json(iif(limit_per_minute IS NULL, NULL, json_object('perMinute', limit_per_minute, 'perDay', limit_per_day))),
    'access', access, 'createdAt', created_at, 'expiresAt', expires_at, 'suspendedAt', suspended_at,
    'revokedAt', revoked_at, 'lastUsedOn', last_used_on, 'previousTokenExpiresAt', previous_token_expires_at${others}))`
const KEY = keyJson()

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

/** The state of a key, at the time in the column `now`. */
const KEY_STATE = keyState('now')

/** Enough for the keys of many uses: see `pruneSchedule`. */
const KEYS_PRUNED_AT_ONCE = 1_000

/**
 * A page is one JSON text, because passing rows and columns to JavaScript costs more than parsing.
 * `pageOfStatus` names the index to use: otherwise, after `ANALYZE`, SQLite might read the whole
 * table. Numbers are cast: drivers may bind them as floats.
 */
export const statements = {
  page: `SELECT json_group_array(${PET}) AS json FROM (SELECT * FROM petstore_pets WHERE ${FOLLOWING})`,
  pageOfStatus: `SELECT json_group_array(${PET}) AS json
    FROM (SELECT * FROM petstore_pets INDEXED BY petstore_pets_by_status WHERE status = ? AND ${FOLLOWING})`,
  pet: `SELECT ${PET} AS json FROM petstore_pets WHERE id = CAST(? AS INTEGER)`,
  addPet: `INSERT INTO petstore_pets (name, category_id, status) VALUES (?, CAST(? AS INTEGER), ?)
    RETURNING CAST(id AS TEXT) AS id`,
  // The next four statements run in this order in one transaction. Only the first one compares
  // times. On D1, time passes between statements, so a second comparison could treat the same key
  // as expired and add a second animal.
  removeExpiredKey: `DELETE FROM petstore_used_keys
    WHERE key_sha256 = ? AND used_at <= ${TIME} - ${KEY_PERIOD} RETURNING 1`,
  addPetOnce: `INSERT INTO petstore_pets (name, category_id, status) SELECT ?, CAST(? AS INTEGER), ?
    WHERE NOT EXISTS (SELECT 1 FROM petstore_used_keys WHERE key_sha256 = ?) RETURNING CAST(id AS TEXT) AS id`,
  // `changes()` is the number of animals that the statement before has added.
  useKey: `INSERT INTO petstore_used_keys (key_sha256, fingerprint_sha256, used_at, pet)
    SELECT ?, ?, ${TIME}, ${PET} FROM petstore_pets
    WHERE changes() = 1 AND id = last_insert_rowid() RETURNING 1`,
  // If a trigger of the host has dropped the animal or its key, this fails, so the transaction adds nothing.
  usedKey: `SELECT json(coalesce(
    (SELECT json_array(fingerprint_sha256, json(pet)) FROM petstore_used_keys WHERE key_sha256 = ?),
    'no key was stored')) AS json`,
  // A value that is null changes nothing.
  updatePet: `UPDATE petstore_pets SET name = coalesce(?, name),
    category_id = coalesce(CAST(? AS INTEGER), category_id), status = coalesce(?, status)
    WHERE ${MATCHING} RETURNING ${PET} AS json`,
  removePet: `DELETE FROM petstore_pets WHERE ${MATCHING} RETURNING ${PET} AS json`,
  // `WHERE true`: without it, SQLite would read ON as a part of the SELECT.
  restorePets: `INSERT INTO petstore_pets (id, name, category_id, status)
    SELECT CAST(value ->> 0 AS INTEGER), value ->> 1, CAST(value ->> 2 AS INTEGER), value ->> 3 FROM json_each(?)
    WHERE true ON CONFLICT (id) DO NOTHING RETURNING CAST(id AS TEXT) AS id`,
  count: 'SELECT CAST(count(*) AS TEXT) AS count FROM petstore_pets',
  countOfStatus: `SELECT CAST(count(*) AS TEXT) AS count
    FROM petstore_pets INDEXED BY petstore_pets_by_status WHERE status = ?`,
  // Checks only the keys that were used first. Also removes keys from a time when the clock was ahead:
  // they expire too late, and could block the removal of later keys until then.
  removeExpiredKeys: `DELETE FROM petstore_used_keys
    WHERE rowid IN (SELECT rowid FROM petstore_used_keys ORDER BY rowid LIMIT ${KEYS_PRUNED_AT_ONCE})
    AND used_at NOT BETWEEN ${TIME} - ${KEY_PERIOD - 1} AND ${TIME} + ${KEY_PERIOD} RETURNING 1`,
  findKey: `SELECT ${keyJson(`,
    'tokenExpiresAt', iif(token_sha256 = sent, NULL, previous_token_expires_at)`)} AS json
    FROM (SELECT ? AS sent, ${TIME} AS now) JOIN petstore_keys
      ON token_sha256 = sent OR previous_token_sha256 = sent AND previous_token_expires_at > now
    WHERE ${KEY_STATE} = 'active'`,
  getKey: `SELECT ${KEY} AS json FROM petstore_keys WHERE id = ?`,
  listKeys: `SELECT ${KEY} AS json FROM (SELECT ${TIME} AS now) JOIN petstore_keys
    WHERE id > ? AND coalesce(?, ${KEY_STATE}) = ${KEY_STATE} ORDER BY id LIMIT ?`,
  listKeysOfAccount: `SELECT ${KEY} AS json FROM (SELECT ${TIME} AS now) JOIN petstore_keys
    WHERE account = ? AND id > ? AND coalesce(?, ${KEY_STATE}) = ${KEY_STATE} ORDER BY id LIMIT ?`,
  addKey: `INSERT INTO petstore_keys
    (id, token_sha256, plan, account, label, limit_per_minute, limit_per_day, access, expires_at, created_at)
    SELECT * FROM (SELECT ?, ? AS hash, ?, ?, ?, CAST(? AS INTEGER), CAST(? AS INTEGER), ?, CAST(? AS INTEGER), ${TIME})
    WHERE NOT EXISTS (SELECT 1 FROM petstore_keys WHERE previous_token_sha256 = hash)
    ON CONFLICT (token_sha256) DO NOTHING RETURNING ${KEY} AS json`,
  updateKey: `UPDATE petstore_keys SET plan = ${changed('plan', 'plan')}, account = ${changed('account', 'account')},
    label = ${changed('label', 'label')}, limit_per_minute = ${changed('limit_per_minute', 'perMinute')},
    limit_per_day = ${changed('limit_per_day', 'perDay')}, access = ${changed('access', 'access')},
    expires_at = ${changed('expires_at', 'expiresAt')}
    FROM (SELECT ? AS changes) WHERE id = ? AND revoked_at IS NULL RETURNING ${KEY} AS json`,
  // Without an overlap, its value is null, and so are the new values of both columns.
  rotateKey: `UPDATE petstore_keys SET token_sha256 = sent, previous_token_sha256 = iif(overlap IS NULL, NULL, token_sha256),
    previous_token_expires_at = now + overlap
    FROM (SELECT ? AS sent, CAST(? AS INTEGER) AS overlap, ${TIME} AS now)
    WHERE id = ? AND revoked_at IS NULL RETURNING ${KEY} AS json`,
  suspendKey: `UPDATE petstore_keys SET suspended_at = coalesce(suspended_at, ${TIME})
    WHERE id = ? AND revoked_at IS NULL RETURNING ${KEY} AS json`,
  resumeKey: `UPDATE petstore_keys SET suspended_at = NULL WHERE id = ? AND revoked_at IS NULL RETURNING ${KEY} AS json`,
  revokeKey: `UPDATE petstore_keys SET revoked_at = ${TIME}
    WHERE id = ? AND revoked_at IS NULL RETURNING 1`,
  removeKey: `DELETE FROM petstore_keys WHERE id = (
    SELECT id FROM (SELECT ${TIME} AS now) JOIN petstore_keys WHERE id = ? AND ${KEY_STATE} IN ('expired', 'revoked'))
    RETURNING 1`,
  recordKeyUse: `UPDATE petstore_keys SET last_used_on = day FROM (SELECT ? AS day)
    WHERE id IN (SELECT value FROM json_each(?)) AND coalesce(last_used_on, '') < day RETURNING 1`,
} as const

export type RunOne = Run<keyof typeof statements>

/** The name of a statement, and its values. */
export type Command = Readonly<Parameters<RunOne>>

/** Runs statements in one transaction. Returns the rows of each. */
export type RunAll = (commands: readonly Command[], context?: CallContext) => Promise<readonly (readonly unknown[])[]>

/** The columns of a counter that change, and SQL that saves them. */
export const COUNTS = `used_in_minute, minute_ends_at, used_in_day, day_ends_at, refused_in_minute, banned_until,
  counted_at, last_granted`
export const REPLACE_COUNTS = `ON CONFLICT (subject) DO UPDATE SET
  used_in_minute = excluded.used_in_minute, minute_ends_at = excluded.minute_ends_at,
  used_in_day = excluded.used_in_day, day_ends_at = excluded.day_ends_at,
  refused_in_minute = excluded.refused_in_minute, banned_until = excluded.banned_until,
  counted_at = excluded.counted_at, last_granted = excluded.last_granted`

/** The `QuotaState` of a counter as JSON. */
export const STATE = `json_object('usedInMinute', used_in_minute, 'minuteEndsAt', minute_ends_at,
  'usedInDay', used_in_day, 'dayEndsAt', day_ends_at, 'refusedInMinute', refused_in_minute, 'bannedUntil', banned_until)`

/**
 * How many counters one statement looks at. It begins at a random place: an index on the end of
 * counters would cost each request more than it saves here.
 */
const LOOKED_AT = 1_000

/** @param now - SQL for the time. It stands once, because better-sqlite3 binds no `?1` by position. */
export function pruneStatement(now: string): string {
  return `DELETE FROM petstore_quota WHERE rowid IN (
    SELECT rowid FROM petstore_quota WHERE rowid > (
      SELECT abs(random() % max(1, max(rowid) - ${LOOKED_AT - 1})) FROM petstore_quota
    ) ORDER BY rowid LIMIT ${LOOKED_AT}
  ) AND max(day_ends_at, banned_until) < ${now} - ${KEPT_FOR}`
}

/**
 * Deletes clients from a full bucket: those whose day has ended, and then those with the fewest
 * requests, so a client over its limit is deleted last.
 *
 * @param bucket - SQL for the bucket
 */
export function makeRoomStatement(bucket: string): string {
  return `DELETE FROM petstore_quota WHERE rowid IN (SELECT rowid FROM petstore_quota WHERE bucket = ${bucket}
    ORDER BY day_ends_at DESC, used_in_day DESC LIMIT -1 OFFSET ${BUCKET_SIZE - 1})`
}

/** Only for SQLite files. D1 counts in SQL, by `d1/statements.ts`. */
export const quotaStatements = {
  counter: `SELECT ${STATE} AS state FROM petstore_quota WHERE subject = ?`,
  save: `INSERT INTO petstore_quota (subject, bucket, ${COUNTS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ${REPLACE_COUNTS}`,
  makeRoom: makeRoomStatement('?'),
  prune: pruneStatement('?'),
} as const

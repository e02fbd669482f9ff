import { KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { KEPT_FOR } from '../shared/counters.ts'
import { keyState } from '../shared/key-state-sql.ts'
import { timeOr } from './functions.ts'

/**
 * How many rows one statement deletes. Fewer rows are added between two such statements, so no
 * table grows forever.
 */
const KEYS_PRUNED_AT_ONCE = 10_000
const PRUNED_AT_ONCE = 1_000

/** Deletes old rows. `SKIP LOCKED`: another process may be deleting the same rows. */
function prune(table: string, condition: string, order: string, limit = PRUNED_AT_ONCE): string {
  return `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
  SELECT ctid FROM ${table} WHERE ${condition} ORDER BY ${order} LIMIT ${limit} FOR UPDATE SKIP LOCKED))`
}

/**
 * SQL for the current time minus `age` milliseconds. A subquery computes it once, so that an index
 * can be used.
 */
const timeAgo = (age: number) => `(SELECT ${timeOr('$1::float8')} - ${age})`

/**
 * Lists with and without a status are separate statements, so that PostgreSQL never has to sort. A
 * list with a status compares pairs (status, id): with `status = $3`, PostgreSQL might search the
 * whole table by id, which is slow if few animals have the status.
 */
export function petStatements(schema: string) {
  const pets = `SELECT id::text AS id, name, category_id::text AS category, status FROM ${schema}.pets`
  return {
    page: `${pets} WHERE pets.id > $1::bigint ORDER BY pets.id LIMIT $2::bigint`,
    pageOfStatus: `${pets} WHERE (status, pets.id) > ($3::text, $1::bigint) AND status <= $3::text
  ORDER BY status, pets.id LIMIT $2::bigint`,
    pet: `${pets} WHERE pets.id = $1::bigint`,
    addPets: `SELECT id::text AS id, name, category::text AS category, status, same
  FROM ${schema}.add_pets($1::text::json, $2::text::json, $3::float8, $4::int)`,
    updatePet: `SELECT id::text AS id, name, category::text AS category, status, applied
  FROM ${schema}.update_pet($1::bigint, $2::text::json, $3::text::json, $4::int)`,
    removePet: `SELECT id::text AS id, name, category::text AS category, status, applied
  FROM ${schema}.remove_pet($1::bigint, $2::text::json, $3::int)`,
    restorePets: `SELECT id::text AS id FROM ${schema}.restore_pets($1::text::json, $2::int) AS id`,
    count: `SELECT count(*)::text AS count FROM ${schema}.pets`,
    countOfStatus: `SELECT count(*)::text AS count FROM ${schema}.pets WHERE status = $1::text`,
    removeExpiredKeys: prune(
      `${schema}.used_keys`,
      `used_at <= ${timeAgo(KEY_PERIOD)}`,
      'used_at',
      KEYS_PRUNED_AT_ONCE,
    ),
  }
}

/** @param others - SQL for further members of the JSON */
const keyJson = (
  others = '',
) => `json_strip_nulls(json_build_object('id', id, 'plan', plan, 'account', account, 'label', label,
  'limits', CASE WHEN limit_per_minute IS NOT NULL
    THEN json_build_object('perMinute', limit_per_minute, 'perDay', limit_per_day) END,
  'access', access, 'createdAt', created_at, 'expiresAt', expires_at, 'suspendedAt', suspended_at,
  'revokedAt', revoked_at, 'lastUsedOn', last_used_on, 'previousTokenExpiresAt', previous_token_expires_at${others}))::text AS json`
const KEY = keyJson()

/**
 * SQL that sets a column to the member of the JSON `changes`, or to the old value if it has no such
 * member.
 */
const changed = (column: string, member: string, cast = '') =>
  `${column} = CASE WHEN changes -> '${member}' IS NULL THEN ${column} ELSE (changes ->> '${member}')${cast} END`

export function keyStatements(schema: string) {
  const keys = `${schema}.keys`
  /** One row with the time, so that a statement reads it once. */
  const clock = `(SELECT ${timeOr('$1::float8')} AS now) AS clock`
  const state = keyState('now')
  /**
   * Null stands for any state. Not `=`: PostgreSQL would expect few matches, and read and sort the whole table
   * for each page.
   */
  const hasState = (given: string) => `strpos(${state}, coalesce(${given}::text, '')) > 0`
  return {
    findKey: `SELECT ${keyJson(`,
  'tokenExpiresAt', CASE WHEN token_sha256 <> $1::text THEN previous_token_expires_at END`)}
  FROM ${keys}, (SELECT ${timeOr('$2::float8')} AS now) AS clock
  WHERE (token_sha256 = $1::text OR previous_token_sha256 = $1::text AND previous_token_expires_at > now)
    AND ${state} = 'active'`,
    getKey: `SELECT ${KEY} FROM ${keys} WHERE id = $1`,
    listKeys: `SELECT ${KEY} FROM ${keys}, ${clock}
  WHERE id > $2::text AND ${hasState('$3')} ORDER BY id LIMIT $4::bigint`,
    listKeysOfAccount: `SELECT ${KEY} FROM ${keys}, ${clock}
  WHERE account = $2::text AND id > $3::text AND ${hasState('$4')} ORDER BY id LIMIT $5::bigint`,
    addKey: `INSERT INTO ${keys}
  (id, token_sha256, plan, account, label, limit_per_minute, limit_per_day, access, expires_at, created_at)
  SELECT $1, $2::text, $3, $4, $5, $6::bigint, $7::bigint, $8, $9::bigint, ${timeOr('$10::float8')}
  WHERE NOT EXISTS (SELECT FROM ${keys} WHERE previous_token_sha256 = $2::text)
  ON CONFLICT (token_sha256) DO NOTHING RETURNING ${KEY}`,
    updateKey: `UPDATE ${keys} SET ${changed('plan', 'plan')}, ${changed('account', 'account')},
  ${changed('label', 'label')}, ${changed('limit_per_minute', 'perMinute', '::bigint')},
  ${changed('limit_per_day', 'perDay', '::bigint')}, ${changed('access', 'access')},
  ${changed('expires_at', 'expiresAt', '::bigint')}
  FROM (SELECT $1::text::json AS changes) AS given WHERE id = $2 AND revoked_at IS NULL RETURNING ${KEY}`,
    // Without an overlap, `$2` is null, and so are the new values of both columns.
    rotateKey: `UPDATE ${keys} SET token_sha256 = $1, previous_token_sha256 = CASE WHEN $2::bigint IS NOT NULL THEN token_sha256 END,
  previous_token_expires_at = ${timeOr('$3::float8')} + $2::bigint WHERE id = $4 AND revoked_at IS NULL RETURNING ${KEY}`,
    suspendKey: `UPDATE ${keys} SET suspended_at = coalesce(suspended_at, ${timeOr('$1::float8')})
  WHERE id = $2 AND revoked_at IS NULL RETURNING ${KEY}`,
    resumeKey: `UPDATE ${keys} SET suspended_at = NULL WHERE id = $1 AND revoked_at IS NULL RETURNING ${KEY}`,
    revokeKey: `UPDATE ${keys} SET revoked_at = ${timeOr('$1::float8')} WHERE id = $2 AND revoked_at IS NULL RETURNING id`,
    removeKey: `DELETE FROM ${keys} USING ${clock} WHERE id = $2 AND ${state} IN ('expired', 'revoked') RETURNING id`,
    // Another process may record the same keys. In the same order, the two cannot deadlock.
    recordKeyUse: `UPDATE ${keys} SET last_used_on = $1::text WHERE id IN (
  SELECT id FROM ${keys} WHERE id IN (SELECT json_array_elements_text($2::text::json))
    AND (last_used_on IS NULL OR last_used_on < $1::text COLLATE "C") ORDER BY id FOR UPDATE SKIP LOCKED)`,
  }
}

export function quotaStatements(schema: string) {
  const quota = `${schema}.quota`
  return {
    spend: `SELECT * FROM ${schema}.spend($1::text::json, $2::int, $3::float8, $4::int)`,
    // One row also for a subject without a counter, because the row has the time.
    peek: `SELECT now, used_in_minute AS "usedInMinute", minute_ends_at AS "minuteEndsAt",
  used_in_day AS "usedInDay", day_ends_at AS "dayEndsAt",
  refused_in_minute AS "refusedInMinute", banned_until AS "bannedUntil",
  counted_at AS "countedAt", last_granted AS "lastGranted", last_refused_before_ban AS "lastRefusedBeforeBan"
  FROM (SELECT ${timeOr('$2::float8')} AS now) AS clock LEFT JOIN ${quota} ON subject = $1::text`,
    reset: `DELETE FROM ${quota} WHERE subject = $1::text`,
    prune: prune(quota, `ends_at < ${timeAgo(KEPT_FOR)}`, 'ends_at'),
  }
}

import { KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { KEPT_FOR } from '../shared/counters.ts'
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

const KEY = `json_strip_nulls(json_build_object('id', id, 'plan', plan, 'account', account, 'label', label,
  'limits', CASE WHEN limit_per_minute IS NOT NULL
    THEN json_build_object('perMinute', limit_per_minute, 'perDay', limit_per_day) END,
  'createdAt', created_at, 'expiresAt', expires_at, 'revokedAt', revoked_at))::text AS json`

/**
 * SQL that sets a column to the member of the JSON `changes`, or to the old value if it has no such
 * member.
 */
const changed = (column: string, member: string, cast = '') =>
  `${column} = CASE WHEN changes -> '${member}' IS NULL THEN ${column} ELSE (changes ->> '${member}')${cast} END`

export function keyStatements(schema: string) {
  const keys = `${schema}.keys`
  return {
    key: `SELECT ${KEY} FROM ${keys}
  WHERE token_sha256 = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${timeOr('$2::float8')})`,
    keys: `SELECT ${KEY} FROM ${keys} ORDER BY number`,
    addKey: `INSERT INTO ${keys}
  (id, token_sha256, plan, account, label, limit_per_minute, limit_per_day, expires_at, created_at)
  VALUES ($1, $2, $3, $4, $5, $6::bigint, $7::bigint, $8::bigint, ${timeOr('$9::float8')}) RETURNING ${KEY}`,
    changeKey: `UPDATE ${keys} SET ${changed('plan', 'plan')}, ${changed('account', 'account')},
  ${changed('label', 'label')}, ${changed('limit_per_minute', 'perMinute', '::bigint')},
  ${changed('limit_per_day', 'perDay', '::bigint')}, ${changed('expires_at', 'expiresAt', '::bigint')}
  FROM (SELECT $1::text::json AS changes) AS given WHERE id = $2 AND revoked_at IS NULL RETURNING ${KEY}`,
    revokeKey: `UPDATE ${keys} SET revoked_at = ${timeOr('$1::float8')} WHERE id = $2 AND revoked_at IS NULL RETURNING id`,
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

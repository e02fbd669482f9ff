import { KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { dollarQuoted, timeOr } from './schema.ts'

/** Settings of the statements that add animals. */
export interface CreateSettings {
  /** The quoted name of the schema. */
  readonly schema: string
  /** How long a statement waits for the row of `turn` or of an idempotency key, in milliseconds. */
  readonly lockTimeout: number
  /** Whether statements add animals at the same time, without the row of `turn`. */
  readonly parallelCreates: boolean
}

/**
 * Returns the SQL that adds several animals with one commit. `$1` is a JSON array of objects with
 * the members `name`, `category` and `status`, and for `addOnce` also `key` and `fingerprint`. The
 * rows of the result have the order of the array.
 *
 * A client that follows the list by id must miss no animal. So ids must become visible in ascending
 * order: each transaction first locks the row of `turn`, then takes its ids, and keeps the lock
 * until it has committed. The parts of a `WITH` run in the right order, because each part reads
 * from the part before it. `MATERIALIZED` keeps PostgreSQL from merging the two.
 */
export function createStatements(settings: CreateSettings) {
  return { add: settings.parallelCreates ? addInParallel(settings) : addInTurn(settings), addOnce: addOnce(settings) }
}

function addInParallel({ schema }: CreateSettings): string {
  return `INSERT INTO ${schema}.pets (name, category_id, status)
SELECT name, category, status FROM ${givenRows('name text, category bigint, status text')} ORDER BY ordinal
RETURNING id::text AS id`
}

function addInTurn(settings: CreateSettings): string {
  const { schema } = settings
  return `WITH ${takeTurn(settings)},
restored AS MATERIALIZED (SELECT set_config('lock_timeout', before, true) FROM turn)
INSERT INTO ${schema}.pets (name, category_id, status)
SELECT name, category, status FROM restored, ${givenRows('name text, category bigint, status text')} ORDER BY ordinal
RETURNING id::text AS id`
}

/**
 * Inserts all idempotency keys, each with the id that its animal would get. If a key is there
 * already, and has not expired, its row keeps the earlier id; then no animal is added, and the new
 * id is a gap. If another transaction is adding the same key, the insert waits for its commit, and
 * sees its row even though the statement began before. Keys are inserted in the order of their
 * hashes: two statements that wait for each other's keys would deadlock.
 */
function addOnce(settings: CreateSettings): string {
  const { schema, parallelCreates } = settings
  const isExpired = `known.used_at + ${KEY_PERIOD} <= excluded.used_at`
  const replaced = ['fingerprint_sha256', 'pet_id', 'used_at'].map(
    (column) => `${column} = CASE WHEN ${isExpired} THEN excluded.${column} ELSE known.${column} END`,
  )
  const columns = 'name text, category bigint, status text, key text, fingerprint text'
  return `WITH ${parallelCreates ? limitWait(settings) : takeTurn(settings)},
given AS MATERIALIZED (
  SELECT ordinal, name, category, status, sha256(convert_to(key, 'UTF8')) AS key_sha256,
    sha256(convert_to(fingerprint, 'UTF8')) AS fingerprint_sha256,
    nextval(${dollarQuoted(`${schema}.pet_ids`)}) AS new_id, ${timeOr('$2::float8')} AS now
  FROM ${parallelCreates ? 'wait' : 'turn'}, ${givenRows(columns)} ORDER BY ordinal
),
used AS (
  INSERT INTO ${schema}.used_keys AS known (key_sha256, fingerprint_sha256, pet_id, used_at)
  SELECT DISTINCT ON (key_sha256) key_sha256, fingerprint_sha256, new_id, now FROM given
  WHERE key_sha256 IS NOT NULL ORDER BY key_sha256, ordinal
  ON CONFLICT (key_sha256) DO UPDATE SET ${replaced.join(', ')}
  RETURNING key_sha256, fingerprint_sha256, pet_id
),
restored AS MATERIALIZED (
  SELECT set_config('lock_timeout', before, true)
  FROM ${parallelCreates ? 'wait' : 'turn'}, (SELECT count(*) FROM used) AS all_used
),
added AS (
  INSERT INTO ${schema}.pets (id, name, category_id, status)
  SELECT new_id, name, category, status FROM restored, given LEFT JOIN used USING (key_sha256)
  WHERE key_sha256 IS NULL OR pet_id = new_id ORDER BY new_id
)
SELECT coalesce(pet_id, new_id)::text AS id,
  CASE WHEN pet_id <> new_id THEN given.fingerprint_sha256 = used.fingerprint_sha256 END AS same
FROM given LEFT JOIN used USING (key_sha256) ORDER BY ordinal`
}

/**
 * `before` is the lock timeout of the connection. Your program may have begun this transaction, so
 * it must be restored.
 */
function limitWait({ lockTimeout }: CreateSettings): string {
  return `wait AS MATERIALIZED (
  SELECT current_setting('lock_timeout') AS before, set_config('lock_timeout', '${lockTimeout}', true)
)`
}

/**
 * Without `WHERE id = 1`, PostgreSQL would plan for thousands of rows: it has no statistics of this
 * table, because its one row is locked but never changed.
 */
function takeTurn(settings: CreateSettings): string {
  return `${limitWait(settings)},
turn AS MATERIALIZED (
  SELECT before FROM wait, ${settings.schema}.turn WHERE turn.id = 1 FOR UPDATE OF turn
)`
}

/** The elements of the JSON array `$1` as rows; `ordinal` is their position, from 1. */
function givenRows(columns: string): string {
  return `ROWS FROM (json_to_recordset($1::text::json) AS (${columns})) WITH ORDINALITY
    AS given (${columns.replaceAll(/ (?:text|bigint)/g, '')}, ordinal)`
}

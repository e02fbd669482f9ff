import { BUCKET_SIZE } from '../shared/counters.ts'
import { COUNT_COLUMNS, countingSql } from '../shared/counting-sql.ts'

/**
 * Returns SQL for a time in whole milliseconds: `given`, or the time of PostgreSQL if `given` is
 * null. Tests pass a time.
 */
export const timeOr = (given: string) =>
  `coalesce(floor(${given}), floor(date_part('epoch', clock_timestamp()) * 1000))::bigint`

/**
 * Puts a text between two tags `$petstore$`. Adds `_` to the tags until the text contains nothing
 * that would end the quote.
 */
export function dollarQuoted(text: string): string {
  let tag = '$petstore$'
  while (`${text}${tag}`.indexOf(tag) < text.length) tag = tag.replace(/\$$/, '_$')
  return tag + text + tag
}

/**
 * `FROM CURRENT`: the function always uses the `search_path` of the migration, which names the
 * schema of the tables.
 */
function plpgsql(head: string, settings: string, body: string, variables = ''): string {
  return `${head} LANGUAGE plpgsql ${settings} SET search_path FROM CURRENT AS $body$
    ${variables && `DECLARE ${variables}`} BEGIN
      ${body}
    END $body$;`
}

/**
 * Writes a function whose parameter `lock_wait` is the lock timeout in milliseconds. The clause
 * `SET lock_timeout = 0` makes PostgreSQL restore the caller's `lock_timeout` when the function
 * returns, even inside a longer transaction.
 */
function lockingFunction(
  head: string,
  body: string,
  { variables = '', settings = 'SET lock_timeout = 0' } = {},
): string {
  const limitedBody = `PERFORM set_config('lock_timeout', lock_wait::text, true);
      ${body}`
  return plpgsql(head, settings, limitedBody, variables)
}

/**
 * The name of a column in the results of `spend`: some drivers rename columns such as
 * `used_in_day`.
 */
const resultOf = (column: string) => column.replaceAll('_', '')

/**
 * The tables of animals and API keys. All times are milliseconds since 1970, as JavaScript has
 * them.
 */
const TABLES = `
    CREATE TABLE pets (
      id bigint PRIMARY KEY,
      name text NOT NULL,
      category_id bigint NOT NULL,
      status text COLLATE "C" NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
    );
    COMMENT ON TABLE pets IS 'The animals. They become visible in the order of their ids, because clients follow the list by id.';
    CREATE SEQUENCE pet_ids AS bigint OWNED BY pets.id;
    ALTER TABLE pets ALTER COLUMN id SET DEFAULT nextval('pet_ids');
    -- A page with a status filter is as fast as one without.
    CREATE INDEX pets_by_status ON pets (status, id);

    CREATE TABLE turn (id int PRIMARY KEY CHECK (id = 1));
    -- The row is locked, but never changed, so it needs no vacuum.
    COMMENT ON TABLE turn IS 'One row. The transaction that holds its lock takes ids and commits before the next one takes ids.';

    CREATE TABLE used_keys (
      key_sha256 bytea PRIMARY KEY,
      fingerprint_sha256 bytea NOT NULL,
      pet_id bigint NOT NULL,
      used_at bigint NOT NULL
    );
    COMMENT ON TABLE used_keys IS 'Idempotency keys with their animals, for 48 hours: a hash of scope and key, and one of the animal. '
      'used_at is in milliseconds since 1970.';
    -- Expired keys are deleted in the order of their times.
    CREATE INDEX used_keys_by_time ON used_keys (used_at);

    CREATE TABLE keys (
      number bigint GENERATED ALWAYS AS IDENTITY,
      id text PRIMARY KEY,
      token_sha256 text NOT NULL UNIQUE,
      plan text NOT NULL,
      account text,
      limit_per_minute bigint,
      limit_per_day bigint,
      label text,
      created_at bigint NOT NULL,
      expires_at bigint,
      revoked_at bigint
    );
    COMMENT ON TABLE keys IS 'API keys. A token is not stored, only its hash. The limits are null if those of the plan apply. '
      'Times are milliseconds since 1970.';`

/**
 * A counter has two parts: the last requests of a subject (how many, when, and with which limits),
 * and the counts before them. The next statement adds these requests to the counts, returns the
 * counts, and stores its own requests as the last ones. So the SQL only adds requests to counts;
 * `countRequest` in JavaScript then decides about each request of the statement. `ends_at` is the
 * end of the day in which a ban that begins now would end, so the index changes once a day. Each
 * request rewrites a counter, so `fillfactor` leaves room for new row versions: such an update
 * (HOT) changes no index, and the next updates reuse its space without vacuum. Anonymous clients
 * have their own table: a flood of them cannot remove the counter of a client with a key.
 */
const COUNTERS = `
    CREATE TABLE quota (
      subject text COLLATE "C" PRIMARY KEY,
      ${COUNT_COLUMNS.map((column) => `${column} bigint NOT NULL DEFAULT 0`).join(', ')},
      requests int NOT NULL,
      counted_at bigint NOT NULL,
      per_minute bigint NOT NULL,
      per_day bigint NOT NULL,
      after_refusals bigint,
      ban_length bigint,
      ends_at bigint NOT NULL
    ) WITH (fillfactor = 50);
    COMMENT ON TABLE quota IS 'Counts of customers: the state before the last requests of a subject, and these last requests. '
      'Times are milliseconds since 1970.';
    -- Old counters are deleted in the order of their ends.
    CREATE INDEX quota_by_end ON quota (ends_at);

    CREATE TABLE anonymous (
      LIKE quota INCLUDING DEFAULTS, bucket int NOT NULL, PRIMARY KEY (bucket, subject)
    ) WITH (fillfactor = 50);
    -- No index on ends_at: the table has about 10,000 rows at most.
    COMMENT ON TABLE anonymous IS 'Counts of client addresses without a key, like quota. Each of 256 buckets has about 40 rows.';`

/**
 * Returns the SQL of a function that counts requests. Each entry of `given` stands for equal
 * requests of one subject; the function returns the counts before these requests. A subject may
 * have several entries, but one statement cannot change a row twice, so each entry has a round.
 * `at` is the time, or null for PostgreSQL's time. PostgreSQL plans the statement in a function
 * once per connection. Outside a function, it would plan it for each request, which takes longer
 * than counting.
 *
 * @param table - its name, and the columns of its primary key
 */
function spendFunction(name: string, table: string, key: string, makeRoom = ''): string {
  const entries = `json_to_recordset(given) AS entry (round int, subject text, bucket int, per_minute bigint, per_day bigint,
            after_refusals bigint, ban_length bigint, requests int)`
  const given = ['per_minute', 'per_day', 'after_refusals', 'ban_length', 'requests']
  // The time is read after the wait for the row. Otherwise, a request could be counted at an
  // earlier time than the one before it.
  const time = timeOr('at')
  return lockingFunction(
    `CREATE FUNCTION ${name}(given json, rounds int, at double precision, lock_wait int) RETURNS TABLE (
      round int, who text, countedat bigint, ${COUNT_COLUMNS.map((column) => `${resultOf(column)} bigint`).join(', ')})`,
    `-- A crash may lose counts, so the commit does not wait for the disk. If your program began this transaction and has
      -- written something, its commit must wait.
      IF txid_current_if_assigned() IS NULL THEN SET LOCAL synchronous_commit = off; END IF;${makeRoom.replace('ENTRIES', entries)}
      FOR this_round IN 1..rounds LOOP
        RETURN QUERY INSERT INTO ${table} AS q (${key}, ${given.join(', ')}, counted_at, ends_at)
          SELECT ${key}, ${given.join(', ')}, now.t, ((now.t + coalesce(ban_length, 0)) / 86400000 + 1) * 86400000
          FROM ${entries}, LATERAL (SELECT ${time} AS t) AS now
          WHERE entry.round = this_round ORDER BY entry.subject
          ON CONFLICT (${key}) DO UPDATE SET (${COUNT_COLUMNS.join(', ')}) = (
              ${countingSql('(SELECT q.*) AS q', { least: 'least', greatest: 'greatest' })}
            ), ${given.map((column) => `${column} = excluded.${column}`).join(', ')}, counted_at = ${time},
            ends_at = greatest(q.ends_at, excluded.ends_at)
          RETURNING this_round, q.subject, q.counted_at, ${COUNT_COLUMNS.map((column) => `q.${column}`).join(', ')};
      END LOOP;`,
  )
}

const SPEND = spendFunction('spend', 'quota', 'subject')

/**
 * If a bucket of anonymous clients is full, new clients replace those whose day has ended, and then
 * those with the fewest requests. So clients over their limit are replaced last, and stay refused.
 */
const SPEND_ANONYMOUS = spendFunction(
  'spend_anonymous',
  'anonymous',
  'bucket, subject',
  `
      DELETE FROM anonymous WHERE ctid = ANY (ARRAY(
        SELECT old.ctid FROM (
          SELECT entry.bucket, count(DISTINCT entry.subject) AS newcomers FROM ENTRIES
          -- Not NOT EXISTS: until the first ANALYZE, PostgreSQL 18 would read the whole table for it.
          WHERE (SELECT true FROM anonymous AS a WHERE a.bucket = entry.bucket AND a.subject = entry.subject) IS NULL
          GROUP BY entry.bucket
        ) AS crowded, LATERAL (
          SELECT a.ctid FROM anonymous AS a WHERE a.bucket = crowded.bucket
          ORDER BY a.ends_at DESC, a.used_in_day + a.requests DESC
          OFFSET greatest(0, ${BUCKET_SIZE} - crowded.newcomers) FOR UPDATE SKIP LOCKED
        ) AS old));`,
)

/**
 * Each step leads from one version of the schema to the next. Never change a released step; add
 * another step.
 */
export const STEPS: readonly string[] = [TABLES + COUNTERS + SPEND + SPEND_ANONYMOUS]

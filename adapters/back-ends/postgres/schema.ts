/** Returns SQL for a time in whole milliseconds: `given`, or the time of PostgreSQL if `given` is null. Tests pass a time. */
export const timeOr = (given: string) =>
  `coalesce(floor(${given}), floor(date_part('epoch', clock_timestamp()) * 1000))::bigint`

/** `FROM CURRENT`: the function always uses the `search_path` of the migration, which names the schema of the tables. */
function plpgsql(head: string, settings: string, body: string, variables = ''): string {
  return `${head} LANGUAGE plpgsql ${settings} SET search_path FROM CURRENT AS $body$
    ${variables && `DECLARE ${variables}`} BEGIN
      ${body}
    END $body$;`
}

/**
 * Writes a function whose parameter `lock_wait` is the lock timeout in milliseconds. The clause `SET lock_timeout = 0` makes
 * PostgreSQL restore the caller's `lock_timeout` when the function returns, even inside a longer transaction.
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

const COUNTS = ['used_in_minute', 'minute_ends_at', 'used_in_day', 'day_ends_at', 'refused_in_minute', 'banned_until']
const eachCount = (write: (column: string) => string, separator = ', ') => COUNTS.map(write).join(separator)
/** The name of a column in the results of `spend`: some drivers rename columns such as `used_in_day`. */
const resultOf = (column: string) => column.replaceAll('_', '')

/** The tables of animals and API keys. All times are milliseconds since 1970, as JavaScript has them. */
const TABLES = `
    CREATE TABLE pets (
      id bigint PRIMARY KEY,
      name text NOT NULL,
      category_id bigint NOT NULL,
      status text COLLATE "C" CHECK (status IN ('available', 'pending', 'sold'))
    );
    COMMENT ON TABLE pets IS 'The animals. They become visible in the order of their ids, because clients follow the list by id.';
    CREATE SEQUENCE pet_ids AS bigint OWNED BY pets.id;
    ALTER TABLE pets ALTER COLUMN id SET DEFAULT nextval('pet_ids');
    -- A page with a status filter is as fast as one without.
    CREATE INDEX pets_by_status ON pets (status, id);

    CREATE TABLE turn (id int PRIMARY KEY CHECK (id = 1));
    COMMENT ON TABLE turn IS 'One row. The transaction that holds its lock takes ids and commits before the next one takes ids.';

    CREATE TABLE used_keys (
      key_sha256 bytea PRIMARY KEY,
      fingerprint_sha256 bytea NOT NULL,
      pet_id bigint NOT NULL,
      used_at bigint NOT NULL
    );
    COMMENT ON TABLE used_keys IS 'Idempotency keys with their animals, for 48 hours: a hash of scope and key, and one of the animal.';
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
    COMMENT ON TABLE keys IS 'API keys. A token is not stored, only its hash. The limits are null if those of the plan apply.';

    CREATE TABLE quota (
      subject text COLLATE "C" PRIMARY KEY,
      ${eachCount((column) => `${column} double precision NOT NULL`)}
    ) WITH (fillfactor = 50);
    CREATE INDEX quota_by_end ON quota (greatest(day_ends_at, banned_until));
    CREATE TABLE anonymous (LIKE quota, bucket int NOT NULL, PRIMARY KEY (bucket, subject)) WITH (fillfactor = 50);`

/**
 * Functions count requests as `countRequest` does. PostgreSQL plans a function once per connection. A plain statement would be
 * planned for each request, and planning takes several times as long as counting.
 */
const SPEND = spendFunction({
  name: 'spend',
  table: 'quota',
  row: 'q.subject = who',
  add: 'INSERT INTO quota VALUES (who, 0, 0, 0, 0, 0, 0) ON CONFLICT DO NOTHING;',
})

/**
 * If a bucket of anonymous clients is full, a new client replaces a client whose day has ended, otherwise the client with the
 * fewest requests. So clients over their limit are replaced last, and stay refused.
 */
const SPEND_ANONYMOUS = spendFunction({
  name: 'spend_anonymous',
  table: 'anonymous',
  row: 'q.bucket = in_bucket AND q.subject = who',
  add: `DELETE FROM anonymous AS q WHERE q.bucket = in_bucket AND q.subject IN (
            SELECT b.subject FROM anonymous AS b WHERE b.bucket = in_bucket
            ORDER BY b.day_ends_at DESC, b.used_in_day DESC OFFSET 39 FOR UPDATE SKIP LOCKED);
          INSERT INTO anonymous VALUES (who, 0, 0, 0, 0, 0, 0, in_bucket) ON CONFLICT DO NOTHING;`,
})

/**
 * The SQL function counts the requests in `given`. An entry stands for equal requests: it has their subject, bucket, limits and
 * ban rule (null for no bans), and says how many they are. The parameter `at` is the time, or null for PostgreSQL's time. For
 * each entry, the function returns the time and the state before the first request of the entry.
 */
function spendFunction({ name, table, row, add }: Record<'name' | 'table' | 'row' | 'add', string>): string {
  return lockingFunction(
    `CREATE FUNCTION ${name}(given json, at double precision, lock_wait int) RETURNS TABLE (
      place bigint, decided double precision, ${eachCount((column) => `${resultOf(column)} double precision`)})`,
    `-- A crash may lose counts, so the commit does not wait for the disk. If your program began this transaction and has
      -- written something, its commit must wait.
      PERFORM set_config('synchronous_commit', 'off', true) WHERE txid_current_if_assigned() IS NULL;
      FOR place, who, in_bucket, per_minute, per_day, after_refusals, ban_length, times IN
        SELECT g.place, g.entry->>0, (g.entry->>1)::int, (g.entry->>2)::float8, (g.entry->>3)::float8,
          (g.entry->>4)::float8, (g.entry->>5)::float8, (g.entry->>6)::int
        FROM json_array_elements(given) WITH ORDINALITY AS g (entry, place) ORDER BY g.place
      LOOP
        LOOP
          SELECT q.* INTO state FROM ${table} AS q WHERE ${row} FOR NO KEY UPDATE;
          EXIT WHEN FOUND;
          ${add}
        END LOOP;
        -- Read after the wait for the row. Otherwise, a request could be counted at an earlier time than the one before it.
        decided := ${timeOr('at')};
        ${eachCount((column) => `${resultOf(column)} := state.${column};`, ' ')}
        banned := false;
        FOR i IN 1..times LOOP
          ${roll('minute', 60_000, 'state.refused_in_minute := 0;')}
          ${roll('day', 86_400_000)}
          IF after_refusals IS NOT NULL THEN
            state.banned_until := CASE WHEN decided >= state.banned_until THEN 0
              ELSE least(state.banned_until, decided + ban_length) END;
            banned := state.banned_until <> 0;
          END IF;
          IF NOT banned AND state.used_in_minute < per_minute AND state.used_in_day < per_day THEN
            state.used_in_minute := state.used_in_minute + 1;
            state.used_in_day := state.used_in_day + 1;
          ELSIF after_refusals IS NOT NULL AND NOT banned THEN
            state.refused_in_minute := state.refused_in_minute + 1;
            IF state.refused_in_minute >= after_refusals THEN
              state.banned_until := decided + ban_length;
              state.refused_in_minute := 0;
            END IF;
          END IF;
        END LOOP;
        UPDATE ${table} AS q SET ${eachCount((column) => `${column} = state.${column}`)} WHERE ${row};
        RETURN NEXT;
      END LOOP;`,
    // `state` is a record: with the row type of the table, PostgreSQL would wait for a table lock before lock_timeout is set.
    {
      variables: `state record; who text; in_bucket int; per_minute double precision; per_day double precision;
      after_refusals double precision; ban_length double precision; times int; banned boolean;`,
    },
  )
}

/** Begins a new window if the old one has ended. If the clock was set back, shortens a window that would end too late. */
function roll(window: 'minute' | 'day', length: number, also = ''): string {
  const [used, end] = [`state.used_in_${window}`, `state.${window}_ends_at`]
  return `IF decided >= ${end} THEN
            ${end} := (floor(decided / ${length}) + 1) * ${length};
            ${used} := 0; ${also}
          ELSE
            ${end} := least(${end}, decided + ${length});
          END IF;`
}

/** Each step leads from one version of the schema to the next. Never change a released step; add another step. */
export const STEPS: readonly string[] = [TABLES + SPEND + SPEND_ANONYMOUS]

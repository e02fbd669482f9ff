/** The key of the advisory lock of creates and imports. Its first number sets it apart from locks of other applications. */
const CREATE_LOCK = "1347637588, 'pets'::regclass::oid::int"

/** A setting that is `on` while `add_pets` inserts animals, so that the triggers for imports do not run. */
const DEFERRED = 'petstore_kit.deferred'
const IS_IMPORT = `WHEN (current_setting('${DEFERRED}', true) IS DISTINCT FROM 'on')`

/** Returns SQL for a time in milliseconds: `given`, or the time of PostgreSQL if `given` is null. Tests pass a time. */
export const timeOr = (given: string) => `coalesce(${given}, floor(date_part('epoch', clock_timestamp()) * 1000))`

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

function triggerFunction(name: string, body: string, variables = ''): string {
  return plpgsql(`${name}() RETURNS trigger`, 'SECURITY DEFINER', `${body} RETURN NULL;`, variables)
}

const COUNTS = ['used_in_minute', 'minute_ends_at', 'used_in_day', 'day_ends_at', 'refused_in_minute', 'banned_until']
const eachCount = (write: (column: string) => string, separator = ', ') => COUNTS.map(write).join(separator)
/** The name of a column in the results of `spend`: some drivers rename columns such as `used_in_day`. */
const resultOf = (column: string) => column.replaceAll('_', '')

/**
 * Counters are `double precision`, which calculates exactly as JavaScript does. The index on status and id makes a list with a
 * status filter as fast as a list without. Each request rewrites a counter, so `fillfactor` leaves room for new row versions.
 * Anonymous clients have their own table: a flood of them cannot remove the counter of a client with a key.
 */
const TABLES = `
    CREATE TABLE pets (
      id bigint PRIMARY KEY,
      name text NOT NULL,
      category_id bigint NOT NULL,
      status text COLLATE "C" CHECK (status IN ('available', 'pending', 'sold'))
    );
    CREATE INDEX pets_by_status ON pets (status, id);
    CREATE SEQUENCE pet_ids AS bigint OWNED BY pets.id;
    CREATE TABLE keys (
      number bigint GENERATED ALWAYS AS IDENTITY,
      id text PRIMARY KEY,
      token_sha256 text NOT NULL UNIQUE,
      plan text NOT NULL,
      account text,
      limit_per_minute double precision,
      limit_per_day double precision,
      label text,
      created_at double precision NOT NULL,
      expires_at double precision,
      revoked_at double precision
    );
    CREATE TABLE quota (
      subject text COLLATE "C" PRIMARY KEY,
      ${eachCount((column) => `${column} double precision NOT NULL`)}
    ) WITH (fillfactor = 50);
    CREATE INDEX quota_by_end ON quota (greatest(day_ends_at, banned_until));
    CREATE TABLE anonymous (LIKE quota, bucket int NOT NULL, PRIMARY KEY (bucket, subject)) WITH (fillfactor = 50);`

/** docs/durability.md explains the tables, functions, triggers and locks with which animals are added and saved. */
const CREATING = `
    CREATE TABLE durable (up_to bigint NOT NULL);
    CREATE INDEX durable_by_id ON durable (up_to);
    -- Without this, PostgreSQL would reject each DELETE from this table if a publication contains it.
    ALTER TABLE durable REPLICA IDENTITY FULL;
    CREATE UNLOGGED TABLE server_runs (run bigint NOT NULL);
    CREATE UNIQUE INDEX only_one_run ON server_runs ((true));
    ${addPets('CREATE', "'off'")}`

/** Returns false if a crash or TRUNCATE has ended the run in which the animals were added: they may be lost. */
const SAVE = lockingFunction(
  'CREATE FUNCTION save(of_run bigint, last_id bigint, process bigint, lock_wait int) RETURNS boolean',
  `-- If your program began this transaction, add_pets has turned off its wait for the disk. Turns the wait on again.
      IF current_setting('synchronous_commit') = 'off' THEN SET LOCAL synchronous_commit TO DEFAULT; END IF;
      -- A standby that is not yet promoted cannot read an unlogged table. With this error, clients get 503.
      IF pg_is_in_recovery() THEN RAISE read_only_sql_transaction; END IF;
      IF NOT (CASE WHEN pg_try_advisory_xact_lock(process) THEN true ELSE pg_try_advisory_xact_lock(process + 1) END) THEN
        RAISE lock_not_available USING MESSAGE = 'earlier animals of this process still wait for their commits';
      END IF;
      -- Makes a TRUNCATE of pets, which ends the run, wait until this transaction has committed.
      LOCK TABLE server_runs, durable IN ROW EXCLUSIVE MODE;
      IF NOT EXISTS (SELECT FROM server_runs AS r WHERE r.run = of_run) THEN RETURN false; END IF;
      INSERT INTO durable VALUES (last_id);
      RETURN true;`,
)

const IMPORTING =
  triggerFunction(
    'CREATE FUNCTION before_import',
    `PERFORM pg_advisory_xact_lock(${CREATE_LOCK});
      -- The commit must wait for the disk, because it lets clients read all animals with smaller ids.
      IF current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN SET LOCAL synchronous_commit TO 'on'; END IF;`,
  ) +
  triggerFunction(
    'CREATE FUNCTION after_import',
    `SELECT max(i.id) INTO greatest_id FROM inserted AS i;
      IF greatest_id IS NULL THEN RETURN NULL; END IF;
      SELECT CASE WHEN s.is_called THEN s.last_value ELSE 0 END INTO last FROM pet_ids AS s;
      IF greatest_id > last THEN PERFORM setval('pet_ids', greatest_id); END IF;
      INSERT INTO durable VALUES (greatest(greatest_id, last));`,
    'last bigint; greatest_id bigint;',
  ) +
  afterTruncate('CREATE', 'server_runs, durable') +
  `
    CREATE TRIGGER before_import BEFORE INSERT ON pets FOR EACH STATEMENT ${IS_IMPORT} EXECUTE FUNCTION before_import();
    CREATE TRIGGER after_import AFTER INSERT ON pets REFERENCING NEW TABLE AS inserted FOR EACH STATEMENT
      ${IS_IMPORT} EXECUTE FUNCTION after_import();
    CREATE TRIGGER after_truncate AFTER TRUNCATE ON pets EXECUTE FUNCTION after_truncate();`

/** Uses TRUNCATE: after a DELETE, a transaction with an older snapshot would still see the rows. */
function afterTruncate(create: string, tables: string): string {
  return triggerFunction(`${create} FUNCTION after_truncate`, `TRUNCATE ${tables};`)
}

/** @param commit - an SQL expression for the value of `synchronous_commit` in the transaction */
function addPets(create: string, commit: string): string {
  return lockingFunction(
    `${create} FUNCTION add_pets(given json, lock_wait int) RETURNS TABLE (id bigint, run bigint)`,
    `-- TRUNCATE locks the tables in the same order. Another order could cause a deadlock.
      LOCK TABLE pets, server_runs, durable IN ROW EXCLUSIVE MODE;
      -- One transaction at a time assigns ids, so animals become visible in the order of their ids.
      PERFORM pg_advisory_xact_lock(${CREATE_LOCK});
      SELECT r.run INTO run FROM server_runs AS r;
      IF run IS NULL THEN
        -- Random: after a crash, a sequence could give the same number again.
        run := floor(random() * 9e15);
        INSERT INTO server_runs VALUES (run) ON CONFLICT DO NOTHING;
      END IF;
      PERFORM set_config('synchronous_commit', ${commit}, true), set_config('${DEFERRED}', 'on', true);
      RETURN QUERY INSERT INTO pets AS p (id, name, category_id, status)
        SELECT nextval('pet_ids'), pet->>0, (pet->>1)::bigint, pet->>2
        FROM json_array_elements(given) WITH ORDINALITY AS each (pet, place) ORDER BY place
        RETURNING p.id, add_pets.run;
      PERFORM set_config('${DEFERRED}', 'off', true);`,
  )
}

/**
 * Only hashes of idempotency keys are stored. A key is stored in the transaction that adds its animal, so a crash loses both or
 * neither. Keys are looked up under the lock of `add_pets`, so that two requests with one key cannot both add an animal.
 * Processes of the first release still call `add_pets` directly.
 */
const USED_KEYS = `
    CREATE TABLE used_keys (
      key_sha256 bytea PRIMARY KEY,
      scope_sha256 bytea NOT NULL,
      fingerprint_sha256 bytea NOT NULL,
      pet_id bigint NOT NULL,
      used_at double precision NOT NULL
    );
    CREATE INDEX used_keys_by_time ON used_keys (used_at);
    CREATE INDEX used_keys_by_scope ON used_keys (scope_sha256, pet_id);
    ${addPetsOnce('', '(g.used->>3)::float8', 86_400_000)}
    ${afterTruncate('CREATE OR REPLACE', 'server_runs, durable, used_keys')}`

/**
 * Idempotency keys now expire after 48 hours, by PostgreSQL's clock unless a test passes a time. Processes of the previous
 * release call the older function, which has one parameter less. The index is dropped: keys are no longer counted by scope.
 */
const LONGER_KEYS = `
    DROP INDEX used_keys_by_scope;
    ${addPetsOnce(', moment double precision', timeOr('moment'), 172_800_000)}`

/**
 * In PostgreSQL, a crash empties the unlogged tables, and so `save` notices that animals may be lost. On Aurora, these tables
 * survive a crash, and `save` would notice nothing. So `add_pets` waits for the disk there.
 */
const AURORA = addPets(
  'CREATE OR REPLACE',
  `CASE WHEN to_regproc('aurora_version') IS NULL THEN 'off' ELSE current_setting('synchronous_commit') END`,
)

/**
 * Writes `add_pets_once`, which adds animals as `add_pets` does, except animals whose idempotency key has been used. For each
 * animal, `keys` has null, or three JSON texts without U+0000: scope, key and fingerprint. The result for a new animal is its id
 * and null. For a used key, it is the id of the animal with this key, and whether the fingerprints are the same. Without
 * `enable_seqscan = off`, PostgreSQL would plan to read a small table as a whole, and keep this plan after the table has grown.
 * @param parameter - one more parameter of `add_pets_once`, or an empty text
 * @param time - an expression for the time at which animals are added
 * @param period - after how many milliseconds an idempotency key expires
 */
function addPetsOnce(parameter: string, time: string, period: number): string {
  return lockingFunction(
    `CREATE FUNCTION add_pets_once(given json, keys json, lock_wait int${parameter})
      RETURNS TABLE (place bigint, id bigint, run bigint, same boolean)`,
    `LOCK TABLE pets, used_keys IN ROW EXCLUSIVE MODE;
      -- Adds nothing, but takes the locks before keys are looked up, and begins a run if there is none.
      PERFORM add_pets('[]', lock_wait);
      SELECT r.run INTO run FROM server_runs AS r;
      RETURN QUERY WITH hashed AS (
        SELECT g.place, g.pet, ${time} AS at,
          sha256(convert_to(g.used->>0, 'UTF8')) AS scope,
          sha256(convert_to((g.used->>0) || (g.used->>1), 'UTF8')) AS key,
          sha256(convert_to(g.used->>2, 'UTF8')) AS fingerprint
        FROM ROWS FROM (json_array_elements(given), json_array_elements(keys)) WITH ORDINALITY AS g (pet, used, place)
      ), grouped AS (
        SELECT h.*, CASE WHEN h.key IS NULL THEN h.place ELSE min(h.place) OVER same_key END AS first, min(h.at) OVER same_key AS since
        FROM hashed AS h WINDOW same_key AS (PARTITION BY h.key)
      ), known AS MATERIALIZED (
        SELECT g.*, u.* FROM grouped AS g LEFT JOIN LATERAL (
          SELECT u.pet_id, u.fingerprint_sha256 FROM used_keys AS u
          WHERE u.key_sha256 = g.key AND u.used_at + ${period} > g.since LIMIT 1
        ) AS u ON true
      ), fresh AS MATERIALIZED (
        SELECT k.*, row_number() OVER (ORDER BY k.place) AS number FROM known AS k
        WHERE k.pet_id IS NULL AND k.place = k.first
      ), added AS MATERIALIZED (
        SELECT f.*, a.id FROM fresh AS f
        JOIN add_pets((SELECT json_agg(f.pet ORDER BY f.number) FROM fresh AS f), lock_wait)
          WITH ORDINALITY AS a (id, run, number) USING (number)
      ), remembered AS (
        INSERT INTO used_keys AS u SELECT a.key, a.scope, a.fingerprint, a.id, a.at FROM added AS a WHERE a.key IS NOT NULL
        ON CONFLICT (key_sha256) DO UPDATE SET (fingerprint_sha256, pet_id, used_at) =
          (excluded.fingerprint_sha256, excluded.pet_id, excluded.used_at)
      )
      SELECT k.place, coalesce(k.pet_id, a.id), add_pets_once.run,
        CASE WHEN a.place IS DISTINCT FROM k.place THEN k.fingerprint = coalesce(k.fingerprint_sha256, a.fingerprint) END
      FROM known AS k LEFT JOIN added AS a ON a.place = k.first;`,
    { settings: 'SET lock_timeout = 0 SET enable_seqscan = off' },
  )
}

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
export const STEPS: readonly string[] = [
  TABLES + CREATING + SAVE + IMPORTING + SPEND + SPEND_ANONYMOUS,
  USED_KEYS,
  LONGER_KEYS,
  AURORA,
]

import { KEY_PERIOD } from '../../../src/pets/idempotency.ts'
import { BUCKET_SIZE } from '../shared/counters.ts'
import { countingSql } from '../shared/counting-sql.ts'

/**
 * Returns SQL for a time in whole milliseconds: `given`, or the time of PostgreSQL if `given` is
 * null. Tests pass a time.
 */
export const timeOr = (given: string) =>
  `coalesce(floor(${given}), floor(date_part('epoch', clock_timestamp()) * 1000))::bigint`

const dropped = (table: string) =>
  `the table "${table}" has not stored a row: a trigger or a rule on it has dropped the row`

const TAKE_TURN = `  PERFORM FROM turn WHERE turn.id = 1 FOR UPDATE;
  IF NOT FOUND THEN
    RAISE EXCEPTION 'the table "turn" has no row with the id 1: call migrate(), or restore the row with INSERT INTO turn VALUES (1)';
  END IF;
`

/**
 * Adds animals, and returns each as it was stored: first those of `plain`, in one statement, then
 * those of `keyed`, which have idempotency keys. `same` is null, or says for a used key whether the
 * fingerprints are equal. `at` is the time, or null for PostgreSQL's time. `lock_wait` is the longest
 * wait for a lock, in milliseconds.
 *
 * `SET lock_timeout = 0` makes PostgreSQL restore the caller's `lock_timeout` when the function
 * returns, even inside a longer transaction. `FROM CURRENT`: the function always uses the
 * `search_path` of the migration, which names the schema of the tables.
 */
const ADD_PETS = `
CREATE FUNCTION add_pets(plain json, keyed json, at double precision, lock_wait int)
RETURNS TABLE (id bigint, name text, category bigint, status text, same boolean)
LANGUAGE plpgsql SET lock_timeout = 0 SET search_path FROM CURRENT AS $body$
DECLARE
  entry record;
  used used_keys;
  now bigint;
  added int;
BEGIN
  PERFORM set_config('lock_timeout', lock_wait::text, true);
  -- A client that follows the list by id must miss no animal, so ids become visible in ascending order: this transaction takes
  -- ids only while it holds the lock of this row, and holds it until its commit.
${TAKE_TURN}  now := ${timeOr('at')};

  RETURN QUERY INSERT INTO pets (name, category_id, status)
    SELECT animal.name, animal.category, animal.status
    FROM json_to_recordset(plain) AS animal (name text, category bigint, status text)
    RETURNING pets.id, pets.name, pets.category_id, pets.status, NULL::boolean;
  GET DIAGNOSTICS added = ROW_COUNT;
  IF added < json_array_length(plain) THEN RAISE EXCEPTION '${dropped('pets')}'; END IF;

  FOR entry IN
    SELECT animal.name, animal.category, animal.status,
      sha256(convert_to(animal.key, 'UTF8')) AS key_sha256, sha256(convert_to(animal.fingerprint, 'UTF8')) AS fingerprint_sha256
    FROM json_to_recordset(keyed) AS animal (name text, category bigint, status text, key text, fingerprint text)
  LOOP
    -- No other transaction can use the same key meanwhile, because it would need the turn.
    SELECT * INTO used FROM used_keys WHERE key_sha256 = entry.key_sha256;
    IF FOUND AND used.used_at + ${KEY_PERIOD} > now THEN
      SELECT pet.id, pet.name, pet.category, pet.status INTO id, name, category, status
        FROM json_to_record(used.pet) AS pet (id bigint, name text, category bigint, status text);
      same := used.fingerprint_sha256 = entry.fingerprint_sha256;
      RETURN NEXT;
      CONTINUE;
    END IF;
    IF FOUND THEN DELETE FROM used_keys WHERE key_sha256 = entry.key_sha256; END IF;
    INSERT INTO pets (name, category_id, status) VALUES (entry.name, entry.category, entry.status)
      RETURNING pets.id, pets.name, pets.category_id, pets.status INTO id, name, category, status;
    IF NOT FOUND THEN RAISE EXCEPTION '${dropped('pets')}'; END IF;
    INSERT INTO used_keys (key_sha256, fingerprint_sha256, pet, used_at)
      VALUES (entry.key_sha256, entry.fingerprint_sha256,
        json_build_object('id', id, 'name', name, 'category', category, 'status', status), now);
    IF NOT FOUND THEN RAISE EXCEPTION '${dropped('used_keys')}'; END IF;
    same := NULL;
    RETURN NEXT;
  END LOOP;
END $body$;`

/** SQL that is true for the animal with this id if it has the values of `condition`. An absent value stands for any. */
const MATCHING = `pet.id = pet_id AND pet.name = coalesce(condition ->> 'name', pet.name)
      AND pet.category_id = coalesce((condition ->> 'category')::bigint, pet.category_id)
      AND pet.status = coalesce(condition ->> 'status', pet.status)`

/**
 * Changes an animal that has the values of `condition`, and returns it. Otherwise, returns the animal as
 * it is, with `applied` false, or no row if there is none. A row that another transaction has locked is
 * compared after the wait for the lock, so only one of several competing calls is applied.
 */
const UPDATE_PET = `
CREATE FUNCTION update_pet(pet_id bigint, changes json, condition json, lock_wait int)
RETURNS TABLE (id bigint, name text, category bigint, status text, applied boolean)
LANGUAGE plpgsql SET lock_timeout = 0 SET search_path FROM CURRENT AS $body$
BEGIN
  PERFORM set_config('lock_timeout', lock_wait::text, true);
  RETURN QUERY UPDATE pets AS pet SET
      name = coalesce(changes ->> 'name', pet.name),
      category_id = coalesce((changes ->> 'category')::bigint, pet.category_id),
      status = coalesce(changes ->> 'status', pet.status)
    WHERE ${MATCHING}
    RETURNING pet.id, pet.name, pet.category_id, pet.status, true;
  IF NOT FOUND THEN
    RETURN QUERY SELECT pet.id, pet.name, pet.category_id, pet.status, false FROM pets AS pet WHERE pet.id = pet_id;
  END IF;
END $body$;`

/** Removes an animal that has the values of `condition`, and returns it as it was. Otherwise as `update_pet`. */
const REMOVE_PET = `
CREATE FUNCTION remove_pet(pet_id bigint, condition json, lock_wait int)
RETURNS TABLE (id bigint, name text, category bigint, status text, applied boolean)
LANGUAGE plpgsql SET lock_timeout = 0 SET search_path FROM CURRENT AS $body$
BEGIN
  PERFORM set_config('lock_timeout', lock_wait::text, true);
  RETURN QUERY DELETE FROM pets AS pet WHERE ${MATCHING}
    RETURNING pet.id, pet.name, pet.category_id, pet.status, true;
  IF NOT FOUND THEN
    RETURN QUERY SELECT pet.id, pet.name, pet.category_id, pet.status, false FROM pets AS pet WHERE pet.id = pet_id;
  END IF;
END $body$;`

/**
 * Adds animals with the ids that they have, except those whose id exists, and returns the ids of the added
 * ones. Needs the turn, because `add_pets` must not take ids meanwhile.
 */
const RESTORE_PETS = `
CREATE FUNCTION restore_pets(given json, lock_wait int) RETURNS SETOF bigint
LANGUAGE plpgsql SET lock_timeout = 0 SET search_path FROM CURRENT AS $body$
DECLARE
  greatest_id bigint;
BEGIN
  PERFORM set_config('lock_timeout', lock_wait::text, true);
${TAKE_TURN}  RETURN QUERY INSERT INTO pets (id, name, category_id, status)
    SELECT animal.id, animal.name, animal.category, animal.status
    FROM json_to_recordset(given) AS animal (id bigint, name text, category bigint, status text)
    ON CONFLICT (id) DO NOTHING RETURNING pets.id;
  SELECT max(pets.id) INTO greatest_id FROM pets;
  IF greatest_id > (SELECT last_value - CASE WHEN is_called THEN 0 ELSE 1 END FROM pet_ids) THEN
    PERFORM setval('pet_ids', greatest_id);
  END IF;
END $body$;`

const ENTRIES = `json_to_recordset(given) AS entry (round int, subject text, bucket int, requests int,
      per_minute bigint, per_day bigint, after_refusals bigint, ban_length bigint)`

/**
 * Counts requests, and returns the counter of each subject after them. An entry of `given` stands
 * for equal requests of one subject. A statement cannot change a row twice, so if a subject has
 * several entries, each of them has another `round`. The results have names without underscores,
 * because some drivers rename columns such as `used_in_day`.
 */
const SPEND = `
CREATE FUNCTION spend(given json, rounds int, at double precision, lock_wait int) RETURNS TABLE (
  round int, subject text, "usedInMinute" bigint, "minuteEndsAt" bigint, "usedInDay" bigint, "dayEndsAt" bigint,
  "refusedInMinute" bigint, "bannedUntil" bigint, "countedAt" bigint, "lastGranted" int, "lastRefusedBeforeBan" int)
LANGUAGE plpgsql SET lock_timeout = 0 SET search_path FROM CURRENT AS $body$
#variable_conflict use_column -- A name such as subject is a column of a table, not of the result.
DECLARE
  grown int[];
  this_time bigint;
BEGIN
  PERFORM set_config('lock_timeout', lock_wait::text, true);
  -- A crash may lose counts, so the commit does not wait for the disk. If your program began this transaction and has written
  -- something, its commit must wait.
  IF txid_current_if_assigned() IS NULL THEN SET LOCAL synchronous_commit = off; END IF;

  -- Adds the missing counters, and locks all of them: ON CONFLICT locks a row even if WHERE is false. Functions that lock rows in
  -- the same order cannot deadlock. Only the buckets of added counters are returned.
  WITH added AS (
    INSERT INTO quota (subject, bucket)
      SELECT entry.subject, entry.bucket FROM ${ENTRIES} WHERE entry.round = 1 ORDER BY entry.subject COLLATE "C"
      ON CONFLICT (subject) DO UPDATE SET bucket = excluded.bucket WHERE false
      RETURNING bucket
  )
  SELECT array_agg(DISTINCT bucket) INTO grown FROM added WHERE bucket IS NOT NULL;
  -- The time is read after the wait for the locks. Otherwise, a request could be counted at an earlier time than the one before.
  this_time := ${timeOr('at')};

  FOR this_round IN 1..rounds LOOP
    RETURN QUERY
    WITH before AS (
      SELECT entry.subject, this_time AS now, entry.requests,
        entry.per_minute, entry.per_day, entry.after_refusals, entry.ban_length,
        q.used_in_minute, q.minute_ends_at, q.used_in_day, q.day_ends_at, q.refused_in_minute, q.banned_until
      FROM ${ENTRIES}, LATERAL (
        -- LIMIT makes PostgreSQL look up each subject by the index. The plan is kept while the table grows.
        SELECT * FROM quota WHERE quota.subject = entry.subject LIMIT 1
      ) AS q
      WHERE entry.round = this_round
    ),
    ${countingSql({ least: 'least', greatest: 'greatest' })}
    INSERT INTO quota AS q (subject, used_in_minute, minute_ends_at, used_in_day, day_ends_at, refused_in_minute, banned_until,
      counted_at, last_granted, last_refused_before_ban, ends_at)
    SELECT subject, used_in_minute, minute_ends_at, used_in_day, day_ends_at, refused_in_minute, banned_until,
      now, last_granted, last_refused_before_ban, ends_at
    FROM counted
    ON CONFLICT (subject) DO UPDATE SET
      used_in_minute = excluded.used_in_minute,
      minute_ends_at = excluded.minute_ends_at,
      used_in_day = excluded.used_in_day,
      day_ends_at = excluded.day_ends_at,
      refused_in_minute = excluded.refused_in_minute,
      banned_until = excluded.banned_until,
      counted_at = excluded.counted_at,
      last_granted = excluded.last_granted,
      last_refused_before_ban = excluded.last_refused_before_ban,
      ends_at = greatest(q.ends_at, excluded.ends_at)
    RETURNING this_round, q.subject, q.used_in_minute, q.minute_ends_at, q.used_in_day, q.day_ends_at, q.refused_in_minute,
      q.banned_until, q.counted_at, q.last_granted, q.last_refused_before_ban;
  END LOOP;

  -- If a bucket is full, its new clients, which were counted now, replace those whose day has ended, and then those with the
  -- fewest requests. So clients over their limit are replaced last, and stay refused.
  IF grown IS NOT NULL THEN
    DELETE FROM quota WHERE ctid = ANY (ARRAY(
      SELECT old.ctid FROM unnest(grown) AS full_bucket, LATERAL (
        SELECT q.ctid FROM quota AS q WHERE q.bucket = full_bucket
        ORDER BY q.counted_at = this_time DESC, q.ends_at DESC, q.used_in_day DESC
        OFFSET ${BUCKET_SIZE} FOR UPDATE SKIP LOCKED) AS old));
  END IF;
END $body$;`

export const FUNCTIONS = ADD_PETS + UPDATE_PET + REMOVE_PET + RESTORE_PETS + SPEND

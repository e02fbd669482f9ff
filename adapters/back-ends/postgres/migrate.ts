import { laterSchema } from '../shared/later-schema.ts'
import { createAllFunction, durableIds } from './add-pets.ts'
import type { Query } from './client.ts'
import { diskFunctions } from './disk.ts'
import { dollarQuoted, literal, type Names } from './names.ts'
import { spendAnonymousFunction, spendFunction } from './spend.ts'
import { spendAllAnonymousFunction, spendAllFunction } from './spend-all.ts'

/** The number of the advisory lock that a migration holds. */
const LOCK = 7_382_615_401

/** Each step leads from one schema version to the next. Never change a released step; add another step. */
const STEPS: readonly ((names: Names) => string)[] = [firstTables, anonymousBuckets, batches, slowDisks]

/**
 * The SQLSTATE code that the migration raises if a later release has migrated the schema. The message of this error is the schema's
 * version.
 */
const LATER = 'PSK01'

/**
 * Brings the tables up to date in one statement, which is one transaction even behind a pooler. A lock makes processes migrate
 * one after another.
 *
 * @param version - the version to migrate to; tests pass earlier versions
 * @throws {PetStoreError} `invalid_option` if a later release has migrated the schema
 */
export async function migrate(query: Query, names: Names, version = STEPS.length): Promise<void> {
  try {
    await query(`DO ${dollarQuoted(program(names, version), 'petstore')}`)
  } catch (error) {
    const { code, message } = error as { code?: unknown; message?: unknown }
    throw code === LATER ? laterSchema('schema', version, Number(message), error) : error
  }
}

function program(names: Names, latest: number): string {
  const steps = STEPS.slice(0, latest).map(
    (step, index) => `
  IF version < ${index + 1} THEN
    ${step(names)}
    INSERT INTO ${names.versions} (version) VALUES (${index + 1});
  END IF;`,
  )
  return `
DECLARE version int;
BEGIN
  PERFORM pg_advisory_xact_lock(${LOCK});
  IF to_regnamespace(${literal(names.schema)}) IS NULL THEN CREATE SCHEMA ${names.schema}; END IF;
  IF to_regclass(${literal(names.versions)}) IS NULL THEN
    CREATE TABLE ${names.versions} (version int PRIMARY KEY, applied_at timestamptz NOT NULL DEFAULT now());
  END IF;
  SELECT coalesce(max(v.version), 0) INTO version FROM ${names.versions} AS v;
  IF version > ${latest} THEN RAISE EXCEPTION '%', version USING ERRCODE = '${LATER}'; END IF;${steps.join('')}
END`
}

/**
 * Returns SQL for the first tables. Counters are `double precision`, which calculates exactly as JavaScript does. The index on
 * status and id makes a list with a status filter as fast as a list without. Each request rewrites a counter, so `fillfactor`
 * leaves room for new row versions.
 */
function firstTables(names: Names): string {
  const { pets, petIds, keys, quota } = names
  return `
    CREATE TABLE ${pets} (
      id bigint PRIMARY KEY,
      name text NOT NULL,
      category_id bigint NOT NULL,
      status text COLLATE "C" CHECK (status IN ('available', 'pending', 'sold'))
    );
    CREATE INDEX pets_by_status ON ${pets} (status, id);
    CREATE SEQUENCE ${petIds} AS bigint OWNED BY ${pets}.id;
    CREATE TABLE ${keys} (
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
    CREATE TABLE ${quota} (
      subject text COLLATE "C" PRIMARY KEY,
      used_in_minute double precision NOT NULL,
      minute_ends_at double precision NOT NULL,
      used_in_day double precision NOT NULL,
      day_ends_at double precision NOT NULL,
      refused_in_minute double precision NOT NULL,
      banned_until double precision NOT NULL
    ) WITH (fillfactor = 50);
    CREATE INDEX quota_by_end ON ${quota} (greatest(day_ends_at, banned_until));
    ${spendFunction(names)}`
}

/** Returns SQL for a table of anonymous clients only, so that a flood of them takes no room from clients with a key. */
function anonymousBuckets(names: Names): string {
  return `
    CREATE TABLE ${names.anonymous} (
      LIKE ${names.quota} INCLUDING DEFAULTS,
      bucket int NOT NULL,
      PRIMARY KEY (bucket, subject)
    ) WITH (fillfactor = 50);
    ${spendAnonymousFunction(names)}`
}

/** Returns SQL for functions that handle many calls. The older functions stay for processes of earlier releases. */
function batches(names: Names): string {
  return createAllFunction(names) + spendAllFunction(names) + spendAllAnonymousFunction(names)
}

/** Returns SQL for writes that hold no lock while their commit waits for the disk. */
function slowDisks(names: Names): string {
  return diskFunctions(names) + durableIds(names)
}

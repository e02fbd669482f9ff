import { laterSchema } from '../shared/later-schema.ts'
import type { Query } from './client.ts'
import { createAllFunction } from './create-all.ts'
import { dollarQuoted, literal, type Names } from './names.ts'
import { spendAnonymousFunction, spendFunction } from './spend.ts'
import { spendAllAnonymousFunction, spendAllFunction } from './spend-all.ts'

/** The key of the advisory lock. */
const LOCK = 7_382_615_401

/** The steps from each version to the next. A released step is never changed, only followed by another. */
const STEPS: readonly ((names: Names) => string)[] = [firstTables, anonymousBuckets, batches]

/** The SQLSTATE of a schema that a later release has migrated; the message is its version. */
const LATER = 'PSK01'

/**
 * Brings the tables up to date. It is one statement, so that it is one transaction behind any pooler. The lock lets one process
 * through at a time.
 *
 * @param version - the version to migrate to; tests begin with earlier ones
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
 * Counts are `double precision`, which computes exactly as JavaScript does. The index on status and id makes a filtered page as
 * cheap as any. Counts change at every request, so their pages leave room for the next version of a row.
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

/** Anonymous clients get a table of their own, so that a flood of them takes no room from customers. */
function anonymousBuckets(names: Names): string {
  return `
    CREATE TABLE ${names.anonymous} (
      LIKE ${names.quota} INCLUDING DEFAULTS,
      bucket int NOT NULL,
      PRIMARY KEY (bucket, subject)
    ) WITH (fillfactor = 50);
    ${spendAnonymousFunction(names)}`
}

/** Functions that carry out many calls. Processes of an earlier release go on with the functions of their version. */
function batches(names: Names): string {
  return createAllFunction(names) + spendAllFunction(names) + spendAllAnonymousFunction(names)
}

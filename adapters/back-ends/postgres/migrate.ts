import type { Query } from './client.ts'
import { dollarQuoted, literal, type Names } from './names.ts'
import { spendFunction } from './spend.ts'

/** Any number will do, so long as all processes agree on it. */
const LOCK = 7_382_615_401

/** The steps, the oldest first: a step that was ever released is never changed, only followed by another. */
const STEPS: readonly ((names: Names) => string)[] = [firstTables]

/**
 * Brings the tables up to date: one statement, so one connection and one transaction, whatever stands between.
 *
 * The lock lets one process at a time through. Those that waited find the work done.
 */
export async function migrate(query: Query, names: Names): Promise<void> {
  await query(`DO ${dollarQuoted(program(names), 'petstore')}`)
}

function program(names: Names): string {
  const steps = STEPS.map(
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
  SELECT coalesce(max(v.version), 0) INTO version FROM ${names.versions} AS v;${steps.join('')}
END`
}

/**
 * Counts are numbers of JavaScript, so they are kept as `double precision`: the arithmetic is the same to the last bit.
 * The page of a filter costs the page: its index has the ids of one status in order. Counts change at every request, so
 * their pages leave room for the new version of a row beside the old one.
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

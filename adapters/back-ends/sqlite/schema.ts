import { laterSchema } from '../shared/errors.ts'

/**
 * The tables. All times are milliseconds since 1970, as JavaScript has them.
 *
 * Each step leads from one schema version to the next. Never change a released step; add another
 * step.
 *
 * The version has its own table, because `user_version` belongs to the application. For D1, each
 * step is split at its semicolons, so strings and comments must not contain any. The build writes
 * the steps to files for `wrangler d1 migrations apply`.
 */
export const STEPS: readonly string[] = [
  `CREATE TABLE petstore_pets (
  -- AUTOINCREMENT: the id of a removed animal is never given again.
  id INTEGER PRIMARY KEY AUTOINCREMENT CHECK (id >= 1),
  name TEXT NOT NULL,
  category_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('available', 'pending', 'sold'))
) STRICT;
CREATE INDEX petstore_pets_by_status ON petstore_pets (status, id);
-- Idempotency keys of the last 48 hours, in the order of their use, each with its animal.
CREATE TABLE petstore_used_keys (
  -- A hash of the scope and the key.
  key_sha256 TEXT PRIMARY KEY,
  -- A hash of what the client sent.
  fingerprint_sha256 TEXT NOT NULL,
  -- The animal as it was added, as JSON: id, name, category and status.
  pet TEXT NOT NULL,
  used_at INTEGER NOT NULL
) STRICT;
CREATE TABLE petstore_keys (
  -- Begins with the time of issue, so the order of the ids is the order of issue.
  id TEXT PRIMARY KEY,
  token_sha256 TEXT NOT NULL UNIQUE,
  -- The token before the last rotation, if it stays valid until previous_token_expires_at.
  previous_token_sha256 TEXT UNIQUE,
  previous_token_expires_at INTEGER,
  plan TEXT NOT NULL,
  account TEXT,
  -- Null if the limits of the plan apply.
  limit_per_minute INTEGER,
  limit_per_day INTEGER,
  label TEXT,
  -- Null stands for write.
  access TEXT CHECK (access IN ('read', 'write')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  suspended_at INTEGER,
  revoked_at INTEGER,
  -- The last UTC day on which a request had this key, such as 2030-01-31.
  last_used_on TEXT
) STRICT;
CREATE INDEX petstore_keys_by_account ON petstore_keys (account, id) WHERE account IS NOT NULL;
-- The counts of each customer and of each client address, after the last request that has changed them.
CREATE TABLE petstore_quota (
  subject TEXT PRIMARY KEY,
  -- Null for a customer. Client addresses share 256 buckets, each of a limited number of rows.
  bucket INTEGER,
  -- Requests that were granted in the minute that ends at minute_ends_at.
  used_in_minute INTEGER NOT NULL,
  minute_ends_at INTEGER NOT NULL,
  -- Requests that were granted on the day that ends at day_ends_at.
  used_in_day INTEGER NOT NULL,
  day_ends_at INTEGER NOT NULL,
  -- Refused requests in this minute that count towards the next ban.
  refused_in_minute INTEGER NOT NULL,
  -- The end of the ban, or 0.
  banned_until INTEGER NOT NULL,
  -- The time of the last request.
  counted_at INTEGER NOT NULL,
  -- 1 if the last request was granted, else 0.
  last_granted INTEGER NOT NULL
) STRICT;
CREATE INDEX petstore_quota_by_bucket ON petstore_quota (bucket) WHERE bucket IS NOT NULL;
CREATE TABLE petstore_schema (version INTEGER NOT NULL) STRICT;
INSERT INTO petstore_schema (version) VALUES (1);`,
]

export const IS_THERE = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'petstore_schema'`

export const VERSION = 'SELECT version FROM petstore_schema'

export function versionIn([row]: readonly unknown[], latest: number): number {
  const version = Number((row as { readonly version: number | bigint } | undefined)?.version ?? 0)
  if (version > latest) throw laterSchema('database', latest, version)
  return version
}

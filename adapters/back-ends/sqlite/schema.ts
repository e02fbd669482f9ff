import { laterSchema } from '../shared/errors.ts'

/**
 * Each step leads from one schema version to the next. Never change a released step; add another
 * step.
 *
 * The version has its own table, because `user_version` belongs to the application. For D1, each
 * step is split at its semicolons, so strings and comments must not contain any. The build writes
 * the steps to files for `wrangler d1 migrations apply`.
 */
export const STEPS: readonly string[] = [
  `CREATE TABLE petstore_pets (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  category_id INTEGER NOT NULL,
  status TEXT
) STRICT;
CREATE INDEX petstore_pets_by_status ON petstore_pets (status, id);
CREATE TABLE petstore_keys (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  token_sha256 TEXT NOT NULL UNIQUE,
  plan TEXT NOT NULL,
  account TEXT,
  per_minute INTEGER,
  per_day INTEGER,
  label TEXT,
  created_at INTEGER NOT NULL,
  expires_at INTEGER,
  revoked_at INTEGER
) STRICT;
-- Anonymous clients share buckets of bounded size. For a client with a key, the bucket is null.
CREATE TABLE petstore_quota (
  subject TEXT PRIMARY KEY,
  state TEXT NOT NULL,
  ends_at REAL NOT NULL,
  bucket INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX petstore_quota_by_end ON petstore_quota (ends_at);
CREATE INDEX petstore_quota_by_bucket ON petstore_quota (bucket) WHERE bucket IS NOT NULL;
CREATE TABLE petstore_schema (version INTEGER NOT NULL) STRICT;
INSERT INTO petstore_schema (version) VALUES (1);`,
  `CREATE TABLE petstore_used_keys (
  pet_id INTEGER PRIMARY KEY,
  scope TEXT NOT NULL,
  key_sha256 TEXT NOT NULL,
  fingerprint_sha256 TEXT NOT NULL,
  ends_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX petstore_used_keys_by_key ON petstore_used_keys (scope, key_sha256);
UPDATE petstore_schema SET version = 2;`,
]

export const IS_THERE = `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'petstore_schema'`

export const VERSION = 'SELECT version FROM petstore_schema'

export function versionIn([row]: readonly unknown[], latest: number): number {
  const version = Number((row as { readonly version: number | bigint } | undefined)?.version ?? 0)
  if (version > latest) throw laterSchema('database', latest, version)
  return version
}

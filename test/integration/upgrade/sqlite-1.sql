-- A file of version 1 with rows, as the release of that version created it. Never change it.
CREATE TABLE petstore_schema (version INTEGER NOT NULL) STRICT;
INSERT INTO petstore_schema VALUES (1);
CREATE TABLE petstore_pets (
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
CREATE TABLE petstore_quota (
  subject TEXT PRIMARY KEY,
  state TEXT NOT NULL,
  ends_at REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX petstore_quota_by_end ON petstore_quota (ends_at);
INSERT INTO petstore_pets (name, category_id, status) VALUES
  ('Rex', 9223372036854775807, 'available'),
  ('Straße', -1, NULL),
  ('Kiwi', 3, 'sold');
INSERT INTO petstore_quota VALUES (
  'account:acme',
  '{"usedInMinute":4,"minuteEndsAt":1700000040000,"usedInDay":7,"dayEndsAt":1700006400000,"refusedInMinute":2,"bannedUntil":0}',
  1700006400000
);

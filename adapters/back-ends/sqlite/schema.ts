import { laterSchema } from '../shared/later-schema.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import { inTransaction } from './writer.ts'

/** The steps from each version to the next. A released step is never changed. */
const MIGRATIONS = [
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
   CREATE TABLE petstore_quota (
     subject TEXT PRIMARY KEY,
     state TEXT NOT NULL,
     ends_at REAL NOT NULL
   ) STRICT, WITHOUT ROWID;
   CREATE INDEX petstore_quota_by_end ON petstore_quota (ends_at);`,
  // Anonymous clients share buckets of bounded size; the bucket of a customer is null.
  `ALTER TABLE petstore_quota ADD COLUMN bucket INTEGER;
   CREATE INDEX petstore_quota_by_bucket ON petstore_quota (bucket) WHERE bucket IS NOT NULL;`,
]

/** Brings the schema up to date. Of several processes, one does it while the others wait. */
export function migrate(database: SqliteDatabase): void {
  if (readVersion(database) === MIGRATIONS.length) return
  inTransaction(database, () => {
    database.exec('CREATE TABLE IF NOT EXISTS petstore_schema (version INTEGER NOT NULL) STRICT')
    const version = readVersion(database)
    for (const migration of MIGRATIONS.slice(version)) database.exec(migration)
    if (version === 0) database.exec(`INSERT INTO petstore_schema VALUES (${MIGRATIONS.length})`)
    else database.exec(`UPDATE petstore_schema SET version = ${MIGRATIONS.length}`)
  })
}

/** The version has a table of its own, because `user_version` belongs to the host. */
function readVersion(database: SqliteDatabase): number {
  const isThere = prepare(database, `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'petstore_schema'`)
  if (isThere.all().length === 0) return 0
  const [row] = prepare(database, 'SELECT version FROM petstore_schema').all() as { version: number | bigint }[]
  const version = Number(row?.version ?? 0)
  if (version > MIGRATIONS.length) throw laterSchema('database', MIGRATIONS.length, version)
  return version
}

import { laterSchema } from '../shared/later-schema.ts'
import { prepare, type SqliteDatabase } from './database.ts'
import { MIGRATIONS } from './migrations.ts'
import { inTransaction } from './writer.ts'

/** Brings the schema up to date. If several processes start together, one migrates while the others wait. */
export function migrate(database: SqliteDatabase): void {
  if (readVersion(database) === MIGRATIONS.length) return
  inTransaction(database, () => {
    for (const migration of MIGRATIONS.slice(readVersion(database))) database.exec(migration)
  })
}

/** Returns the schema version; 0 for an empty database. */
function readVersion(database: SqliteDatabase): number {
  const isThere = prepare(database, `SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'petstore_schema'`)
  if (isThere.all().length === 0) return 0
  const [row] = prepare(database, 'SELECT version FROM petstore_schema').all() as { version: number | bigint }[]
  const version = Number(row?.version ?? 0)
  if (version > MIGRATIONS.length) throw laterSchema('database', MIGRATIONS.length, version)
  return version
}
